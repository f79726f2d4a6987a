const int ROWS = 200;
const int COLS = 130;

__global__ void column_geometric_mean(const float* x, float* gmean, int rows, int cols) {
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    if (col >= cols) return;
    float log_sum = 0.0f;
    for (int row = 0; row < rows; ++row) {
        log_sum += logf(x[row * cols + col]);
    }
    gmean[col] = expf(log_sum / (float)rows);
}

int main() {
    size_t n = (size_t)ROWS * COLS;

    std::vector<float> h_x(n);
    read_binary("data/x.bin", h_x.data(), n);

    float* d_x = nullptr;
    cudaMalloc(&d_x, sizeof(float) * n);
    cudaMemcpy(d_x, h_x.data(), sizeof(float) * n, cudaMemcpyHostToDevice);

    float* d_gmean = nullptr;
    cudaMalloc(&d_gmean, sizeof(float) * COLS);

    column_geometric_mean<<<(COLS + 127) / 128, 128>>>(d_x, d_gmean, ROWS, COLS);
    cudaError_t err = cudaDeviceSynchronize();
    if (err != cudaSuccess) {
        std::cerr << "kernel launch failed: " << cudaGetErrorString(err) << '\n';
        return 1;
    }

    std::vector<float> h_gmean(COLS);
    cudaMemcpy(h_gmean.data(), d_gmean, sizeof(float) * COLS, cudaMemcpyDeviceToHost);
    write_binary("data/gmean.bin", h_gmean.data(), COLS);

    cudaFree(d_x);
    cudaFree(d_gmean);
    return 0;
}
