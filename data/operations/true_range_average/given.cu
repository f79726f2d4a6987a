const int ASSETS = 40;
const int DAYS = 300;

__global__ void true_range(const float* high, const float* low, const float* close, float* atr,
                           int assets, int days) {
    int a = blockIdx.x * blockDim.x + threadIdx.x;
    if (a >= assets) return;
    float average = 0.0f;
    for (int t = 0; t < days; ++t) {
        int i = a * days + t;
        float range = high[i] - low[i];
        if (t > 0) {
            range = fmaxf(range, fabsf(high[i] - close[i - 1]));
            range = fmaxf(range, fabsf(low[i] - close[i - 1]));
        }
        int n = min(t + 1, 14);
        average = ((n - 1) * average + range) / n;
        atr[i] = average;
    }
}

int main() {
    const int count = ASSETS * DAYS;
    std::vector<float> h_high(count);
    read_binary("data/high.bin", h_high.data(), count);
    float* d_high;
    cudaMalloc(&d_high, count * sizeof(float));
    cudaMemcpy(d_high, h_high.data(), count * sizeof(float), cudaMemcpyHostToDevice);

    std::vector<float> h_low(count);
    read_binary("data/low.bin", h_low.data(), count);
    float* d_low;
    cudaMalloc(&d_low, count * sizeof(float));
    cudaMemcpy(d_low, h_low.data(), count * sizeof(float), cudaMemcpyHostToDevice);

    std::vector<float> h_close(count);
    read_binary("data/close.bin", h_close.data(), count);
    float* d_close;
    cudaMalloc(&d_close, count * sizeof(float));
    cudaMemcpy(d_close, h_close.data(), count * sizeof(float), cudaMemcpyHostToDevice);

    std::vector<float> h_atr(count);
    float* d_atr;
    cudaMalloc(&d_atr, count * sizeof(float));

    const int block = 128;
    true_range<<<(ASSETS + block - 1) / block, block>>>(d_high, d_low, d_close, d_atr, ASSETS, DAYS);
    if (cudaDeviceSynchronize() != cudaSuccess) {
        std::cerr << "GPU error\n";
        return 1;
    }

    cudaMemcpy(h_atr.data(), d_atr, count * sizeof(float), cudaMemcpyDeviceToHost);
    write_binary("data/atr.bin", h_atr.data(), count);

    cudaFree(d_high);
    cudaFree(d_low);
    cudaFree(d_close);
    cudaFree(d_atr);
    return 0;
}
