#include <cuda_runtime.h>
#include <cstdio>
#include <vector>

#define ROWS 90
#define COLS 130
#define BAND 64
#define DIAGONALS (ROWS + COLS - 1)

// A block follows 128 diagonals through a band of rows, then adds what it found.
__global__ void diagonal_bands(const float* __restrict__ a, float* sums) {
    int k = blockIdx.x * blockDim.x + threadIdx.x;
    if (k >= DIAGONALS) return;
    int shift = k - (ROWS - 1);
    int first = max(blockIdx.y * BAND, max(0, -shift));
    int end = min(blockIdx.y * BAND + BAND, min(ROWS, COLS - shift));
    if (first >= end) return;
    float sum = 0.0f;
    for (int r = first; r < end; ++r) sum += a[(size_t)r * COLS + r + shift];
    atomicAdd(&sums[k], sum);
}

int main() {
    const size_t n_a = (size_t)ROWS * COLS;
    const size_t n_sums = (size_t)ROWS + COLS - 1;
    std::vector<float> h_a(n_a), h_sums(n_sums);
    FILE* f = fopen("data/a.bin", "rb");
    if (!f || fread(h_a.data(), sizeof(float), n_a, f) != n_a) return 1;
    fclose(f);
    float* dev_a;
    float* dev_sums;
    cudaMalloc(&dev_a, n_a * sizeof(float));
    cudaMalloc(&dev_sums, n_sums * sizeof(float));
    cudaMemcpy(dev_a, h_a.data(), n_a * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemset(dev_sums, 0, n_sums * sizeof(float));
    dim3 grid((DIAGONALS + 128 - 1) / 128, (ROWS + BAND - 1) / BAND);
    diagonal_bands<<<grid, 128>>>(dev_a, dev_sums);
    cudaMemcpy(h_sums.data(), dev_sums, n_sums * sizeof(float), cudaMemcpyDeviceToHost);
    FILE* g = fopen("data/sums.bin", "wb");
    fwrite(h_sums.data(), sizeof(float), n_sums, g);
    fclose(g);
    cudaFree(dev_a); cudaFree(dev_sums);
    return 0;
}
