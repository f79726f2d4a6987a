#include <cuda_runtime.h>
#include <fstream>
#include <iostream>
#include <vector>

constexpr int ROWS = 60;
constexpr int COLS = 33;
constexpr int TOTAL = 400;
constexpr int WARPS = 4;

// One warp for each source row: it reads the row once and writes all of its copies.
__global__ void spread_rows(const float* __restrict__ x, const int* __restrict__ ends,
                            float* __restrict__ repeated, int* __restrict__ source) {
    const int row = blockIdx.x * WARPS + threadIdx.y;
    if (row >= ROWS) return;
    const int first = row == 0 ? 0 : ends[row - 1];
    const int last = ends[row];
    for (int c = threadIdx.x; c < COLS; c += 32) {
        const float v = x[(size_t)row * COLS + c];
        for (int i = first; i < last; ++i) repeated[(size_t)i * COLS + c] = v;
    }
    for (int i = first + threadIdx.x; i < last; i += 32) source[i] = row;
}

int main() {
    const size_t xSize = (size_t)ROWS * COLS;
    const size_t repeatedSize = (size_t)TOTAL * COLS;
    std::vector<float> h_x(xSize);
    std::vector<int> h_ends(ROWS);
    std::vector<float> h_repeated(repeatedSize);
    std::vector<int> h_source(TOTAL);
    std::ifstream in_x("data/x.bin", std::ios::binary);
    in_x.read(reinterpret_cast<char*>(h_x.data()), xSize * sizeof(float));
    if (!in_x) {
        std::cerr << "could not read data/x.bin\n";
        return 1;
    }
    std::ifstream in_ends("data/ends.bin", std::ios::binary);
    in_ends.read(reinterpret_cast<char*>(h_ends.data()), ROWS * sizeof(int));
    if (!in_ends) {
        std::cerr << "could not read data/ends.bin\n";
        return 1;
    }

    float* d_x = nullptr;
    cudaMalloc(&d_x, xSize * sizeof(float));
    cudaMemcpy(d_x, h_x.data(), xSize * sizeof(float), cudaMemcpyHostToDevice);
    int* d_ends = nullptr;
    cudaMalloc(&d_ends, ROWS * sizeof(int));
    cudaMemcpy(d_ends, h_ends.data(), ROWS * sizeof(int), cudaMemcpyHostToDevice);
    float* d_repeated = nullptr;
    cudaMalloc(&d_repeated, repeatedSize * sizeof(float));
    int* d_source = nullptr;
    cudaMalloc(&d_source, TOTAL * sizeof(int));

    spread_rows<<<(ROWS + WARPS - 1) / WARPS, dim3(32, WARPS)>>>(d_x, d_ends, d_repeated, d_source);
    cudaError_t err = cudaDeviceSynchronize();
    if (err != cudaSuccess) {
        std::cerr << "CUDA: " << cudaGetErrorString(err) << '\n';
        return 1;
    }
    cudaMemcpy(h_repeated.data(), d_repeated, repeatedSize * sizeof(float), cudaMemcpyDeviceToHost);
    cudaMemcpy(h_source.data(), d_source, TOTAL * sizeof(int), cudaMemcpyDeviceToHost);

    std::ofstream out_repeated("data/repeated.bin", std::ios::binary);
    out_repeated.write(reinterpret_cast<const char*>(h_repeated.data()), repeatedSize * sizeof(float));
    std::ofstream out_source("data/source.bin", std::ios::binary);
    out_source.write(reinterpret_cast<const char*>(h_source.data()), TOTAL * sizeof(int));

    cudaFree(d_x);
    cudaFree(d_ends);
    cudaFree(d_repeated);
    cudaFree(d_source);
    return 0;
}
