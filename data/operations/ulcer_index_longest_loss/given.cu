constexpr int ASSETS = 100;
constexpr int DAYS = 250;

__global__ void ulcer_kernel(const float* prices, float* ulcer, int* longest, int assets, int days) {
    int a = blockIdx.x * blockDim.x + threadIdx.x;
    if (a >= assets) return;
    const float* p = prices + (size_t)a * days;
    float peak = p[0];
    float sum = 0.0f;
    int run = 0, best = 0;
    for (int t = 0; t < days; ++t) {
        peak = fmaxf(peak, p[t]);
        float loss = 100.0f * (peak - p[t]) / peak;
        sum += loss * loss;
        if (p[t] < peak) {
            ++run;
            if (run > best) best = run;
        } else {
            run = 0;
        }
    }
    ulcer[a] = sqrtf(sum / days);
    longest[a] = best;
}

int main() {
    const int count = ASSETS * DAYS;
    float* h_prices = new float[count];
    read_binary("data/prices.bin", h_prices, count);
    float* d_prices;
    cudaMalloc(&d_prices, count * sizeof(float));
    cudaMemcpy(d_prices, h_prices, count * sizeof(float), cudaMemcpyHostToDevice);

    float* h_ulcer = new float[ASSETS];
    float* d_ulcer;
    cudaMalloc(&d_ulcer, ASSETS * sizeof(float));
    int* h_longest = new int[ASSETS];
    int* d_longest;
    cudaMalloc(&d_longest, ASSETS * sizeof(int));

    dim3 block(256);
    dim3 grid((ASSETS + block.x - 1) / block.x);
    ulcer_kernel<<<grid, block>>>(d_prices, d_ulcer, d_longest, ASSETS, DAYS);
    cudaError_t status = cudaDeviceSynchronize();
    if (status != cudaSuccess) {
        std::cerr << "kernel launch failed: " << cudaGetErrorString(status) << std::endl;
        return 1;
    }

    cudaMemcpy(h_ulcer, d_ulcer, ASSETS * sizeof(float), cudaMemcpyDeviceToHost);
    cudaMemcpy(h_longest, d_longest, ASSETS * sizeof(int), cudaMemcpyDeviceToHost);
    write_binary("data/ulcer.bin", h_ulcer, ASSETS);
    write_binary("data/longest.bin", reinterpret_cast<const float*>(h_longest), ASSETS);

    delete[] h_prices;
    delete[] h_ulcer;
    delete[] h_longest;
    cudaFree(d_prices);
    cudaFree(d_ulcer);
    cudaFree(d_longest);
    return 0;
}
