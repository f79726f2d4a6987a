#define BLOCK_ROWS 10
#define BLOCK_COLS 17

__global__ void ssim_kernel(const float* first, const float* second, float* score, int block_rows, int block_cols) {
    int idx = blockIdx.x * blockDim.x + threadIdx.x;
    if (idx >= block_rows * block_cols) return;
    int width = block_cols * 8;
    int corner = (idx / block_cols) * 8 * width + (idx % block_cols) * 8;
    float ma = 0.0f, mb = 0.0f;
    for (int r = 0; r < 8; ++r) {
        for (int c = 0; c < 8; ++c) {
            ma += first[corner + r * width + c] / 64.0f;
            mb += second[corner + r * width + c] / 64.0f;
        }
    }
    float va = 0.0f, vb = 0.0f, cov = 0.0f;
    for (int r = 0; r < 8; ++r) {
        for (int c = 0; c < 8; ++c) {
            float da = first[corner + r * width + c] - ma;
            float db = second[corner + r * width + c] - mb;
            va += da * da / 64.0f;
            vb += db * db / 64.0f;
            cov += da * db / 64.0f;
        }
    }
    float c1 = 6.5025f;
    float c2 = 58.5225f;
    float numerator = (2.0f * ma * mb + c1) * (2.0f * cov + c2);
    float denominator = (ma * ma + mb * mb + c1) * (va + vb + c2);
    score[idx] = numerator / denominator;
}

int main() {
    const int n_first = BLOCK_ROWS * 8 * BLOCK_COLS * 8;
    const int n_score = BLOCK_ROWS * BLOCK_COLS;
    size_t bytes = n_first * sizeof(float);

    float* h_first = new float[n_first];
    float* h_second = new float[n_first];
    read_binary("data/first.bin", h_first, n_first);
    read_binary("data/second.bin", h_second, n_first);

    float *d_first, *d_second;
    cudaMalloc(&d_first, bytes);
    cudaMalloc(&d_second, bytes);
    cudaMemcpy(d_first, h_first, bytes, cudaMemcpyHostToDevice);
    cudaMemcpy(d_second, h_second, bytes, cudaMemcpyHostToDevice);

    float* d_score;
    cudaMalloc(&d_score, n_score * sizeof(float));

    const int threads = 128;
    const int blocks = (n_score + threads - 1) / threads;
    ssim_kernel<<<blocks, threads>>>(d_first, d_second, d_score, BLOCK_ROWS, BLOCK_COLS);
    cudaError_t status = cudaDeviceSynchronize();
    if (status != cudaSuccess) {
        std::cerr << "kernel launch failed: " << cudaGetErrorString(status) << std::endl;
        return 1;
    }

    float* h_score = new float[n_score];
    cudaMemcpy(h_score, d_score, n_score * sizeof(float), cudaMemcpyDeviceToHost);
    write_binary("data/score.bin", h_score, n_score);

    cudaFree(d_first);
    cudaFree(d_second);
    cudaFree(d_score);
    delete[] h_first;
    delete[] h_second;
    delete[] h_score;
    return 0;
}
