constexpr int ASSETS = 30;
constexpr int DAYS = 250;

__global__ void fast_line(const float* high, const float* low, const float* close, float* percent_k,
                          int assets, int days) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= assets * days) return;
    int back = min(i % days, 13);
    float top = high[i];
    float bottom = low[i];
    for (int d = 1; d <= back; d++) {
        top = fmaxf(top, high[i - d]);
        bottom = fminf(bottom, low[i - d]);
    }
    percent_k[i] = top == bottom ? 50.0f : 100.0f * (close[i] - bottom) / (top - bottom);
}

__global__ void slow_line(const float* percent_k, float* percent_d, int assets, int days) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= assets * days) return;
    int back = min(i % days, 2);
    float sum = 0.0f;
    for (int d = 0; d <= back; d++) sum += percent_k[i - d];
    percent_d[i] = sum / (back + 1);
}

int main() {
    const int n = ASSETS * DAYS;
    const size_t bytes = n * sizeof(float);

    float* h_high = new float[n];
    float* h_low = new float[n];
    float* h_close = new float[n];
    float* h_percent_k = new float[n];
    float* h_percent_d = new float[n];
    read_binary("data/high.bin", h_high, n);
    read_binary("data/low.bin", h_low, n);
    read_binary("data/close.bin", h_close, n);

    float* d_high;
    cudaMalloc(&d_high, bytes);
    cudaMemcpy(d_high, h_high, bytes, cudaMemcpyHostToDevice);
    float* d_low;
    cudaMalloc(&d_low, bytes);
    cudaMemcpy(d_low, h_low, bytes, cudaMemcpyHostToDevice);
    float* d_close;
    cudaMalloc(&d_close, bytes);
    cudaMemcpy(d_close, h_close, bytes, cudaMemcpyHostToDevice);
    float* d_percent_k;
    cudaMalloc(&d_percent_k, bytes);
    float* d_percent_d;
    cudaMalloc(&d_percent_d, bytes);

    const int threads = 256;
    const int blocks = (n + threads - 1) / threads;
    fast_line<<<blocks, threads>>>(d_high, d_low, d_close, d_percent_k, ASSETS, DAYS);
    slow_line<<<blocks, threads>>>(d_percent_k, d_percent_d, ASSETS, DAYS);
    cudaError_t err = cudaGetLastError();
    if (err != cudaSuccess) {
        std::cerr << "CUDA error: " << cudaGetErrorString(err) << std::endl;
        return 1;
    }

    cudaMemcpy(h_percent_k, d_percent_k, bytes, cudaMemcpyDeviceToHost);
    cudaMemcpy(h_percent_d, d_percent_d, bytes, cudaMemcpyDeviceToHost);
    write_binary("data/percent_k.bin", h_percent_k, n);
    write_binary("data/percent_d.bin", h_percent_d, n);

    cudaFree(d_high);
    cudaFree(d_low);
    cudaFree(d_close);
    cudaFree(d_percent_k);
    cudaFree(d_percent_d);
    delete[] h_high;
    delete[] h_low;
    delete[] h_close;
    delete[] h_percent_k;
    delete[] h_percent_d;
    return 0;
}
