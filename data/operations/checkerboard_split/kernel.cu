#include <fstream>
#include <iostream>
#include <cuda_runtime.h>

const int BATCH = 3;
const int ROWS = 45;
const int COLS = 61;
const int CELLS = ROWS * COLS;
const int RED = (CELLS + 1) / 2;
const int BLACK = CELLS / 2;

// A thread takes two neighboring cells of a row, which have different colors.
__global__ void split_pairs(const float* __restrict__ grid, float* __restrict__ red,
                            float* __restrict__ black) {
    const int c = 2 * (blockIdx.x * blockDim.x + threadIdx.x);
    const int r = blockIdx.y;
    const int b = blockIdx.z;
    if (c >= COLS) return;
    const float* row = grid + (size_t)b * CELLS + r * COLS;
    const bool both = c + 1 < COLS;
    const float first = row[c];
    const float second = both ? row[c + 1] : 0.0f;
    float* red_row = red + (size_t)b * RED + (r * COLS + 1) / 2 + c / 2;
    float* black_row = black + (size_t)b * BLACK + r * COLS / 2 + c / 2;
    if (r & 1) {
        *black_row = first;
        if (both) *red_row = second;
    } else {
        *red_row = first;
        if (both) *black_row = second;
    }
}

int main() {
    const size_t gridSize = size_t(BATCH) * ROWS * COLS;
    const size_t redSize = size_t(BATCH) * ((ROWS * COLS + 1) / 2);
    const size_t blackSize = size_t(BATCH) * (ROWS * COLS / 2);
    float* grid;
    float* red;
    float* black;
    cudaMallocManaged(&grid, gridSize * sizeof(float));
    cudaMallocManaged(&red, redSize * sizeof(float));
    cudaMallocManaged(&black, blackSize * sizeof(float));

    std::ifstream grid_in("data/grid.bin", std::ios::binary);
    if (!grid_in.read((char*)grid, gridSize * sizeof(float))) {
        std::cerr << "cannot read data/grid.bin\n";
        return 1;
    }

    split_pairs<<<dim3(((COLS + 1) / 2 + 127) / 128, ROWS, BATCH), 128>>>(grid, red, black);
    if (cudaDeviceSynchronize() != cudaSuccess) {
        std::cerr << "kernel failed\n";
        return 1;
    }

    std::ofstream("data/red.bin", std::ios::binary).write((const char*)red, redSize * sizeof(float));
    std::ofstream("data/black.bin", std::ios::binary).write((const char*)black, blackSize * sizeof(float));
    cudaFree(grid);
    cudaFree(red);
    cudaFree(black);
    return 0;
}
