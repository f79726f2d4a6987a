const int N = 45;
const int M = 70;
const int ROWS = 2 * N + 1;
const int COLS = 2 * M + 1;

__device__ float coarse_value(const float* coarse, int i, int j) {
    if (i < 0 || i >= N || j < 0 || j >= M) return 0.0f;
    return coarse[i * M + j];
}

__global__ void add_correction(const float* fine, const float* coarse, float* corrected) {
    int c = blockIdx.x * blockDim.x + threadIdx.x;
    int r = blockIdx.y * blockDim.y + threadIdx.y;
    if (r >= ROWS || c >= COLS) return;
    // an odd index has the same coarse point on both sides, an even one its two neighbours
    int top = (r + 1) / 2 - 1, bottom = r / 2;
    int left = (c + 1) / 2 - 1, right = c / 2;
    float sum = coarse_value(coarse, top, left) + coarse_value(coarse, top, right)
              + coarse_value(coarse, bottom, left) + coarse_value(coarse, bottom, right);
    corrected[r * COLS + c] = fine[r * COLS + c] + 0.25f * sum;
}

int main() {
    const int numel = ROWS * COLS;
    const int coarse_total = N * M;

    std::vector<float> h_fine(numel);
    std::vector<float> h_coarse(coarse_total);
    std::vector<float> h_corrected(numel);
    read_binary("data/fine.bin", h_fine.data(), numel);
    read_binary("data/coarse.bin", h_coarse.data(), coarse_total);

    float* d_fine;
    cudaMalloc(&d_fine, numel * sizeof(float));
    cudaMemcpy(d_fine, h_fine.data(), numel * sizeof(float), cudaMemcpyHostToDevice);
    float* d_coarse;
    cudaMalloc(&d_coarse, coarse_total * sizeof(float));
    cudaMemcpy(d_coarse, h_coarse.data(), coarse_total * sizeof(float), cudaMemcpyHostToDevice);
    float* d_corrected;
    cudaMalloc(&d_corrected, numel * sizeof(float));

    dim3 block(16, 16);
    dim3 grid((COLS + 15) / 16, (ROWS + 15) / 16);
    add_correction<<<grid, block>>>(d_fine, d_coarse, d_corrected);
    if (cudaDeviceSynchronize() != cudaSuccess) {
        std::cerr << "CUDA error\n";
        return 1;
    }

    cudaMemcpy(h_corrected.data(), d_corrected, numel * sizeof(float), cudaMemcpyDeviceToHost);
    write_binary("data/corrected.bin", h_corrected.data(), numel);

    cudaFree(d_fine);
    cudaFree(d_coarse);
    cudaFree(d_corrected);
    return 0;
}
