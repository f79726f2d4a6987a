constexpr int BATCH = 3;
constexpr int CHANNELS = 20;
constexpr int PIXELS = 400;

__global__ void filter_response(const float* x, const float* gamma, const float* beta, const float* tau,
                                float* y, int channels, int pixels) {
    __shared__ float shared_sum[256];
    int plane = blockIdx.x;
    int c = plane % channels;
    const float* in = x + (size_t)plane * pixels;
    float* out = y + (size_t)plane * pixels;
    float sum = 0.0f;
    for (int p = threadIdx.x; p < pixels; p += blockDim.x) sum += in[p] * in[p];
    shared_sum[threadIdx.x] = sum;
    __syncthreads();
    for (int s = blockDim.x / 2; s > 0; s >>= 1) {
        if (threadIdx.x < s) shared_sum[threadIdx.x] += shared_sum[threadIdx.x + s];
        __syncthreads();
    }
    float nu2 = shared_sum[0] / pixels;
    float scale = gamma[c] / sqrtf(nu2 + 1e-6f);
    for (int p = threadIdx.x; p < pixels; p += blockDim.x) {
        out[p] = fmaxf(scale * in[p] + beta[c], tau[c]);
    }
}

int main() {
    size_t size_bytes = CHANNELS * sizeof(float);

    float* h_x = new float[BATCH * CHANNELS * PIXELS];
    read_binary("data/x.bin", h_x, BATCH * CHANNELS * PIXELS);
    float* h_gamma = new float[CHANNELS];
    read_binary("data/gamma.bin", h_gamma, CHANNELS);
    float* h_beta = new float[CHANNELS];
    read_binary("data/beta.bin", h_beta, CHANNELS);
    float* h_tau = new float[CHANNELS];
    read_binary("data/tau.bin", h_tau, CHANNELS);
    float* h_y = new float[BATCH * CHANNELS * PIXELS];

    float *d_x, *d_gamma, *d_beta, *d_tau, *d_y;
    cudaMalloc((void**)&d_x, BATCH * CHANNELS * PIXELS * sizeof(float));
    cudaMemcpy(d_x, h_x, BATCH * CHANNELS * PIXELS * sizeof(float), cudaMemcpyHostToDevice);
    cudaMalloc((void**)&d_gamma, size_bytes);
    cudaMemcpy(d_gamma, h_gamma, size_bytes, cudaMemcpyHostToDevice);
    cudaMalloc((void**)&d_beta, size_bytes);
    cudaMemcpy(d_beta, h_beta, size_bytes, cudaMemcpyHostToDevice);
    cudaMalloc((void**)&d_tau, size_bytes);
    cudaMemcpy(d_tau, h_tau, size_bytes, cudaMemcpyHostToDevice);
    cudaMalloc((void**)&d_y, BATCH * CHANNELS * PIXELS * sizeof(float));

    filter_response<<<BATCH * CHANNELS, 256>>>(d_x, d_gamma, d_beta, d_tau, d_y, CHANNELS, PIXELS);
    cudaError_t err = cudaDeviceSynchronize();
    if (err != cudaSuccess) {
        std::cerr << "Kernel failed: " << cudaGetErrorString(err) << '\n';
        return 1;
    }

    cudaMemcpy(h_y, d_y, BATCH * CHANNELS * PIXELS * sizeof(float), cudaMemcpyDeviceToHost);
    write_binary("data/y.bin", h_y, BATCH * CHANNELS * PIXELS);

    delete[] h_x;
    delete[] h_gamma;
    delete[] h_beta;
    delete[] h_tau;
    delete[] h_y;
    cudaFree(d_x);
    cudaFree(d_gamma);
    cudaFree(d_beta);
    cudaFree(d_tau);
    cudaFree(d_y);
    return 0;
}
