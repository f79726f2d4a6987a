constexpr int kRows = 60;
constexpr int kCols = 333;

__global__ void rank_one(const float* a, const float* x, const float* y, const float* coeffs,
                         float* updated, int rows, int cols) {
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    int i = blockIdx.y * blockDim.y + threadIdx.y;
    if (i < rows && j < cols) {
        int k = i * cols + j;
        updated[k] = coeffs[1] * a[k] + coeffs[0] * x[i] * y[j];
    }
}

int main() {
    const size_t numel = kRows * kCols;
    const size_t size_bytes = numel * sizeof(float);
    std::vector<float> h_a(numel);
    std::vector<float> h_x(kRows);
    std::vector<float> h_y(kCols);
    std::vector<float> h_coeffs(2);
    std::vector<float> h_updated(numel);
    read_binary("data/a.bin", h_a.data(), numel);
    read_binary("data/x.bin", h_x.data(), kRows);
    read_binary("data/y.bin", h_y.data(), kCols);
    read_binary("data/coeffs.bin", h_coeffs.data(), 2);

    float* d_a;
    cudaMalloc(&d_a, size_bytes);
    cudaMemcpy(d_a, h_a.data(), size_bytes, cudaMemcpyHostToDevice);
    float* d_x;
    cudaMalloc(&d_x, kRows * sizeof(float));
    cudaMemcpy(d_x, h_x.data(), kRows * sizeof(float), cudaMemcpyHostToDevice);
    float* d_y;
    cudaMalloc(&d_y, kCols * sizeof(float));
    cudaMemcpy(d_y, h_y.data(), kCols * sizeof(float), cudaMemcpyHostToDevice);
    float* d_coeffs;
    cudaMalloc(&d_coeffs, 2 * sizeof(float));
    cudaMemcpy(d_coeffs, h_coeffs.data(), 2 * sizeof(float), cudaMemcpyHostToDevice);
    float* d_updated;
    cudaMalloc(&d_updated, size_bytes);

    dim3 block(32, 8);
    dim3 grid((kCols + block.x - 1) / block.x, (kRows + block.y - 1) / block.y);
    rank_one<<<grid, block>>>(d_a, d_x, d_y, d_coeffs, d_updated, kRows, kCols);
    cudaError_t status = cudaGetLastError();
    if (status == cudaSuccess) status = cudaDeviceSynchronize();
    if (status != cudaSuccess) {
        std::cerr << "kernel failed: " << cudaGetErrorString(status) << "\n";
        return 1;
    }

    cudaMemcpy(h_updated.data(), d_updated, size_bytes, cudaMemcpyDeviceToHost);
    write_binary("data/updated.bin", h_updated.data(), numel);

    cudaFree(d_a);
    cudaFree(d_x);
    cudaFree(d_y);
    cudaFree(d_coeffs);
    cudaFree(d_updated);
    return 0;
}
