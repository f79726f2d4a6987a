const int N = 50;
const int M = 80;

__global__ void restrict_kernel(const float* fine, float* coarse, int n, int m) {
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    int i = blockIdx.y * blockDim.y + threadIdx.y;
    if (i >= n || j >= m) return;
    int fine_cols = 2 * m + 1;
    float sum = 0.0f;
    for (int di = -1; di <= 1; ++di) {
        for (int dj = -1; dj <= 1; ++dj) {
            float weight = (di == 0 ? 2.0f : 1.0f) * (dj == 0 ? 2.0f : 1.0f) / 16.0f;
            sum += weight * fine[(2 * i + 1 + di) * fine_cols + 2 * j + 1 + dj];
        }
    }
    coarse[i * m + j] = sum;
}

int main() {
    int fine_size = (2 * N + 1) * (2 * M + 1);
    int coarse_size = N * M;

    float* d_fine;
    cudaMalloc(&d_fine, sizeof(float) * fine_size);
    float* d_coarse;
    cudaMalloc(&d_coarse, sizeof(float) * coarse_size);

    std::vector<float> h_fine(fine_size);
    read_binary("data/fine.bin", h_fine.data(), fine_size);
    cudaMemcpy(d_fine, h_fine.data(), sizeof(float) * fine_size, cudaMemcpyHostToDevice);

    dim3 block(16, 16);
    dim3 grid((M + 15) / 16, (N + 15) / 16);
    restrict_kernel<<<grid, block>>>(d_fine, d_coarse, N, M);
    cudaError_t err = cudaDeviceSynchronize();
    if (err != cudaSuccess) {
        std::cerr << "Kernel failed: " << cudaGetErrorString(err) << '\n';
        return 1;
    }

    std::vector<float> h_coarse(coarse_size);
    cudaMemcpy(h_coarse.data(), d_coarse, sizeof(float) * coarse_size, cudaMemcpyDeviceToHost);
    write_binary("data/coarse.bin", h_coarse.data(), coarse_size);

    cudaFree(d_fine);
    cudaFree(d_coarse);
    return 0;
}
