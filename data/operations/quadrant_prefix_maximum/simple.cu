#include <fstream>
#include <iostream>
#include <cuda_runtime.h>

static const int ROWS = 120;
static const int COLS = 150;

__global__ void scan_rows(const float* x, float* best) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= ROWS) return;
    float m = x[(size_t)r * COLS];
    for (int c = 0; c < COLS; ++c) {
        m = fmaxf(m, x[(size_t)r * COLS + c]);
        best[(size_t)r * COLS + c] = m;
    }
}

__global__ void scan_columns(float* best) {
    int c = blockIdx.x * blockDim.x + threadIdx.x;
    if (c >= COLS) return;
    float m = best[c];
    for (int r = 0; r < ROWS; ++r) {
        m = fmaxf(m, best[(size_t)r * COLS + c]);
        best[(size_t)r * COLS + c] = m;
    }
}

int main() {
    float* x;
    float* best;
    cudaMallocManaged(&x, ROWS * COLS * sizeof(float));
    cudaMallocManaged(&best, ROWS * COLS * sizeof(float));

    std::ifstream input("data/x.bin", std::ios::binary);
    if (!input.read(reinterpret_cast<char*>(x), ROWS * COLS * sizeof(float))) {
        std::cerr << "cannot read data/x.bin\n";
        return 1;
    }

    scan_rows<<<(ROWS + 64 - 1) / 64, 64>>>(x, best);
    scan_columns<<<(COLS + 64 - 1) / 64, 64>>>(best);
    if (cudaDeviceSynchronize() != cudaSuccess) {
        std::cerr << "kernel failed\n";
        return 1;
    }

    std::ofstream output("data/best.bin", std::ios::binary);
    output.write(reinterpret_cast<char*>(best), ROWS * COLS * sizeof(float));

    cudaFree(x);
    cudaFree(best);
    return 0;
}
