constexpr int kCount = 7000;

__global__ void greeks(const float* spot, const float* strike, const float* maturity,
                       const float* volatility, float* vega, float* vanna, float* volga, int count) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    float S = spot[i], K = strike[i], T = maturity[i], s = volatility[i];
    float root = sqrtf(T);
    float d1 = (logf(S / K) + (0.02f + 0.5f * s * s) * T) / (s * root);
    float d2 = d1 - s * root;
    float phi = expf(-0.5f * d1 * d1) * 0.39894228f;
    float v = S * phi * root;
    vega[i] = v;
    vanna[i] = -phi * d2 / s;
    volga[i] = v * d1 * d2 / s;
}

int main() {
    float* h_spot = new float[kCount];
    read_binary("data/spot.bin", h_spot, kCount);
    float* h_strike = new float[kCount];
    read_binary("data/strike.bin", h_strike, kCount);
    float* h_maturity = new float[kCount];
    read_binary("data/maturity.bin", h_maturity, kCount);
    float* h_volatility = new float[kCount];
    read_binary("data/volatility.bin", h_volatility, kCount);

    float *d_spot, *d_strike, *d_maturity, *d_volatility, *d_vega, *d_vanna, *d_volga;
    cudaMalloc(&d_spot, kCount * sizeof(float));
    cudaMemcpy(d_spot, h_spot, kCount * sizeof(float), cudaMemcpyHostToDevice);
    cudaMalloc(&d_strike, kCount * sizeof(float));
    cudaMemcpy(d_strike, h_strike, kCount * sizeof(float), cudaMemcpyHostToDevice);
    cudaMalloc(&d_maturity, kCount * sizeof(float));
    cudaMemcpy(d_maturity, h_maturity, kCount * sizeof(float), cudaMemcpyHostToDevice);
    cudaMalloc(&d_volatility, kCount * sizeof(float));
    cudaMemcpy(d_volatility, h_volatility, kCount * sizeof(float), cudaMemcpyHostToDevice);
    cudaMalloc(&d_vega, kCount * sizeof(float));
    cudaMalloc(&d_vanna, kCount * sizeof(float));
    cudaMalloc(&d_volga, kCount * sizeof(float));

    const int block = 256;
    const int grid = (kCount + block - 1) / block;
    greeks<<<grid, block>>>(d_spot, d_strike, d_maturity, d_volatility, d_vega, d_vanna, d_volga, kCount);
    cudaError_t status = cudaGetLastError();
    if (status == cudaSuccess) status = cudaDeviceSynchronize();
    if (status != cudaSuccess) {
        std::cerr << "launch failed: " << cudaGetErrorString(status) << std::endl;
        return 1;
    }

    float* h_vega = new float[kCount];
    cudaMemcpy(h_vega, d_vega, kCount * sizeof(float), cudaMemcpyDeviceToHost);
    write_binary("data/vega.bin", h_vega, kCount);
    float* h_vanna = new float[kCount];
    cudaMemcpy(h_vanna, d_vanna, kCount * sizeof(float), cudaMemcpyDeviceToHost);
    write_binary("data/vanna.bin", h_vanna, kCount);
    float* h_volga = new float[kCount];
    cudaMemcpy(h_volga, d_volga, kCount * sizeof(float), cudaMemcpyDeviceToHost);
    write_binary("data/volga.bin", h_volga, kCount);

    cudaFree(d_spot);
    delete[] h_spot;
    cudaFree(d_strike);
    delete[] h_strike;
    cudaFree(d_maturity);
    delete[] h_maturity;
    cudaFree(d_volatility);
    delete[] h_volatility;
    cudaFree(d_vega);
    delete[] h_vega;
    cudaFree(d_vanna);
    delete[] h_vanna;
    cudaFree(d_volga);
    delete[] h_volga;
    return 0;
}
