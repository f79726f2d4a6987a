constexpr int ROWS = 35;
constexpr int COLS = 350;
#define NUMEL (ROWS * COLS)

__global__ void elish(const float* x, const float* shift, float* y, int n, int cols) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        float v = x[i] + shift[i % cols];
        float s = 1.0f / (1.0f + expf(-v));
        y[i] = v >= 0.0f ? v * s : (expf(v) - 1.0f) * s;
    }
}

int main() {
    std::vector<float> h_x(NUMEL);
    read_binary("data/x.bin", h_x.data(), NUMEL);
    std::vector<float> h_shift(COLS);
    read_binary("data/shift.bin", h_shift.data(), COLS);
    std::vector<float> h_y(NUMEL);

    float* d_x;
    cudaMalloc(&d_x, NUMEL * sizeof(float));
    float* d_shift;
    cudaMalloc(&d_shift, COLS * sizeof(float));
    float* d_y;
    cudaMalloc(&d_y, NUMEL * sizeof(float));
    cudaMemcpy(d_x, h_x.data(), NUMEL * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_shift, h_shift.data(), COLS * sizeof(float), cudaMemcpyHostToDevice);

    int threads = 256;
    int blocks = (NUMEL + threads - 1) / threads;
    elish<<<blocks, threads>>>(d_x, d_shift, d_y, NUMEL, COLS);
    cudaError_t status = cudaGetLastError();
    if (status != cudaSuccess) {
        std::cerr << "Kernel failed: " << cudaGetErrorString(status) << std::endl;
        return 1;
    }

    cudaMemcpy(h_y.data(), d_y, NUMEL * sizeof(float), cudaMemcpyDeviceToHost);
    write_binary("data/y.bin", h_y.data(), NUMEL);

    cudaFree(d_x);
    cudaFree(d_shift);
    cudaFree(d_y);
    return 0;
}
