constexpr int BATCH = 2;
constexpr int CHANNELS = 5;
constexpr int HEIGHT = 30;
constexpr int WIDTH = 31;

__global__ void isrlu(const float* x, const float* alpha, float* y, int n, int channels, int height,
                      int width) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        int c = (i / (height * width)) % channels;
        float v = x[i];
        y[i] = v >= 0.0f ? v : v / sqrtf(1.0f + alpha[c] * v * v);
    }
}

int main() {
    const size_t total_elements = (size_t)BATCH * CHANNELS * HEIGHT * WIDTH;
    std::vector<float> h_x(total_elements);
    read_binary("data/x.bin", h_x.data(), total_elements);
    std::vector<float> h_alpha(CHANNELS);
    read_binary("data/alpha.bin", h_alpha.data(), CHANNELS);
    std::vector<float> h_y(total_elements);

    float* d_x = nullptr;
    cudaMalloc(&d_x, sizeof(float) * total_elements);
    float* d_alpha = nullptr;
    cudaMalloc(&d_alpha, sizeof(float) * CHANNELS);
    float* d_y = nullptr;
    cudaMalloc(&d_y, sizeof(float) * total_elements);

    cudaMemcpy(d_x, h_x.data(), sizeof(float) * total_elements, cudaMemcpyHostToDevice);
    cudaMemcpy(d_alpha, h_alpha.data(), sizeof(float) * CHANNELS, cudaMemcpyHostToDevice);

    int threads = 512;
    int blocks = (total_elements + threads - 1) / threads;
    isrlu<<<blocks, threads>>>(d_x, d_alpha, d_y, total_elements, CHANNELS, HEIGHT, WIDTH);
    cudaError_t error = cudaGetLastError();
    if (error != cudaSuccess) {
        std::cerr << "CUDA error: " << cudaGetErrorString(error) << '\n';
        return 1;
    }

    cudaMemcpy(h_y.data(), d_y, sizeof(float) * total_elements, cudaMemcpyDeviceToHost);
    write_binary("data/y.bin", h_y.data(), total_elements);

    cudaFree(d_x);
    cudaFree(d_alpha);
    cudaFree(d_y);
    return 0;
}
