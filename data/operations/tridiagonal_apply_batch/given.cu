constexpr int BATCH = 16;
constexpr int N = 513;

__global__ void apply_tridiagonal(const float* lower, const float* diag, const float* upper, const float* x, float* y,
                                  int batch, int n) {
    int idx = blockIdx.x * blockDim.x + threadIdx.x;
    if (idx >= batch * n) return;
    int i = idx % n;
    float sum = diag[i] * x[idx];
    if (i > 0) sum += lower[i] * x[idx - 1];
    if (i + 1 < n) sum += upper[i] * x[idx + 1];
    y[idx] = sum;
}

int main() {
    const int total = BATCH * N;
    std::vector<float> h_lower(N);
    read_binary("data/lower.bin", h_lower.data(), N);
    std::vector<float> h_diag(N);
    read_binary("data/diag.bin", h_diag.data(), N);
    std::vector<float> h_upper(N);
    read_binary("data/upper.bin", h_upper.data(), N);
    std::vector<float> h_x(total);
    read_binary("data/x.bin", h_x.data(), total);

    float* d_lower;
    float* d_diag;
    float* d_upper;
    float* d_x;
    float* d_y;
    cudaMalloc(&d_lower, N * sizeof(float));
    cudaMemcpy(d_lower, h_lower.data(), N * sizeof(float), cudaMemcpyHostToDevice);
    cudaMalloc(&d_diag, N * sizeof(float));
    cudaMemcpy(d_diag, h_diag.data(), N * sizeof(float), cudaMemcpyHostToDevice);
    cudaMalloc(&d_upper, N * sizeof(float));
    cudaMemcpy(d_upper, h_upper.data(), N * sizeof(float), cudaMemcpyHostToDevice);
    cudaMalloc(&d_x, total * sizeof(float));
    cudaMemcpy(d_x, h_x.data(), total * sizeof(float), cudaMemcpyHostToDevice);
    cudaMalloc(&d_y, total * sizeof(float));

    int threads = 256;
    int blocks = (total + threads - 1) / threads;
    apply_tridiagonal<<<blocks, threads>>>(d_lower, d_diag, d_upper, d_x, d_y, BATCH, N);
    cudaError_t status = cudaGetLastError();
    if (status == cudaSuccess) status = cudaDeviceSynchronize();
    if (status != cudaSuccess) {
        std::cerr << "GPU error: " << cudaGetErrorString(status) << std::endl;
        return 1;
    }

    std::vector<float> h_y(total);
    cudaMemcpy(h_y.data(), d_y, total * sizeof(float), cudaMemcpyDeviceToHost);
    write_binary("data/y.bin", h_y.data(), total);

    cudaFree(d_lower);
    cudaFree(d_diag);
    cudaFree(d_upper);
    cudaFree(d_x);
    cudaFree(d_y);
    return 0;
}
