constexpr int ASSETS = 60;
constexpr int DAYS = 300;
constexpr int WINDOW = 20;
const int OUT_DAYS = DAYS - WINDOW + 1;

__global__ void bollinger(const float* prices, float* percent_b, int* signal, int assets, int days) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= assets * OUT_DAYS) return;
    int asset = i / OUT_DAYS;
    int day = i % OUT_DAYS;
    const float* p = prices + asset * days + day;
    float mean = 0.0f;
    for (int k = 0; k < WINDOW; ++k) mean += p[k];
    mean /= WINDOW;
    float variance = 0.0f;
    bool equal = true;
    for (int k = 0; k < WINDOW; ++k) {
        variance += (p[k] - mean) * (p[k] - mean);
        if (p[k] != p[0]) equal = false;
    }
    float s = sqrtf(variance / WINDOW);
    float b = 0.5f;
    if (!equal) b = (p[WINDOW - 1] - (mean - 2.0f * s)) / (4.0f * s);
    percent_b[i] = b;
    signal[i] = b > 1.0f ? 1 : (b < 0.0f ? -1 : 0);
}

int main() {
    const size_t prices_bytes = ASSETS * DAYS * sizeof(float);
    const size_t percent_b_bytes = ASSETS * OUT_DAYS * sizeof(float);
    const size_t signal_bytes = ASSETS * OUT_DAYS * sizeof(int);
    std::vector<float> h_prices(ASSETS * DAYS);
    std::vector<float> h_percent_b(ASSETS * OUT_DAYS);
    std::vector<int> h_signal(ASSETS * OUT_DAYS);
    read_binary("data/prices.bin", h_prices.data(), ASSETS * DAYS);

    float *d_prices, *d_percent_b;
    int *d_signal;
    cudaMalloc(&d_prices, prices_bytes);
    cudaMalloc(&d_percent_b, percent_b_bytes);
    cudaMalloc(&d_signal, signal_bytes);
    cudaMemcpy(d_prices, h_prices.data(), prices_bytes, cudaMemcpyHostToDevice);

    const int threads = 128;
    const int blocks = (ASSETS * OUT_DAYS + threads - 1) / threads;
    bollinger<<<blocks, threads>>>(d_prices, d_percent_b, d_signal, ASSETS, DAYS);
    cudaError_t status = cudaGetLastError();
    if (status != cudaSuccess) {
        std::cerr << "kernel launch failed: " << cudaGetErrorString(status) << "\n";
        return 1;
    }

    cudaMemcpy(h_percent_b.data(), d_percent_b, percent_b_bytes, cudaMemcpyDeviceToHost);
    write_binary("data/percent_b.bin", h_percent_b.data(), ASSETS * OUT_DAYS);
    cudaMemcpy(h_signal.data(), d_signal, signal_bytes, cudaMemcpyDeviceToHost);
    write_binary("data/signal.bin", reinterpret_cast<const float*>(h_signal.data()), ASSETS * OUT_DAYS);
    cudaFree(d_prices);
    cudaFree(d_percent_b);
    cudaFree(d_signal);
    return 0;
}
