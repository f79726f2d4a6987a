#define ROWS 40
#define COLS 400
#define WINDOW 48

__global__ void trailing_rms(const float* x, float* rms, int rows, int cols) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= rows * cols) return;
    int c = i % cols;
    int length = min(c + 1, WINDOW);
    float sum = 0.0f;
    for (int k = 0; k < length; ++k) sum += x[i - k] * x[i - k];
    rms[i] = sqrtf(sum / length);
}

int main() {
    const int n = ROWS * COLS;
    const size_t bytes = n * sizeof(float);
    std::vector<float> h_x(n);
    read_binary("data/x.bin", h_x.data(), n);
    float* d_x;
    cudaMalloc(&d_x, bytes);
    cudaMemcpy(d_x, h_x.data(), bytes, cudaMemcpyHostToDevice);

    std::vector<float> h_rms(n);
    float* d_rms;
    cudaMalloc(&d_rms, bytes);

    const int threads = 256;
    const int blocks = (n + threads - 1) / threads;
    trailing_rms<<<blocks, threads>>>(d_x, d_rms, ROWS, COLS);
    cudaError_t err = cudaGetLastError();
    if (err != cudaSuccess) {
        std::cerr << "launch failed: " << cudaGetErrorString(err) << "\n";
        return 1;
    }

    cudaMemcpy(h_rms.data(), d_rms, bytes, cudaMemcpyDeviceToHost);
    write_binary("data/rms.bin", h_rms.data(), n);

    cudaFree(d_rms);
    cudaFree(d_x);
    return 0;
}
