#include <cuda_runtime.h>

#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>
#include <vector>

constexpr int kMaxSize = 16384;
constexpr int kTile = 32;
constexpr int kThreadRows = 8;

__global__ void antiTranspose(const int64_t* __restrict__ matrix, int64_t* __restrict__ flipped, int rows, int cols) {
    __shared__ int64_t tile[kTile][kTile];  // element (r, c) at [r][c ^ r]
    const int row0 = blockIdx.y * kTile, col0 = blockIdx.x * kTile;

#pragma unroll
    for (int r = threadIdx.y; r < kTile; r += kThreadRows) {
        const int row = row0 + r, col = col0 + threadIdx.x;
        if (row < rows && col < cols) {
            tile[r][threadIdx.x ^ r] = matrix[static_cast<size_t>(row) * cols + col];
        }
    }
    __syncthreads();

#pragma unroll
    for (int c = threadIdx.y; c < kTile; c += kThreadRows) {
        const int row = row0 + threadIdx.x, col = col0 + c;
        if (row < rows && col < cols) {
            const size_t target = static_cast<size_t>(cols - 1 - col) * rows + (rows - 1 - row);
            flipped[target] = tile[threadIdx.x][c ^ threadIdx.x];
        }
    }
}

[[noreturn]] static void abandon(const std::string& reason) {
    std::cerr << reason << '\n';
    std::exit(1);
}

static void check(cudaError_t status) {
    if (status != cudaSuccess) abandon(std::string("CUDA: ") + cudaGetErrorString(status));
}

template <typename T>
static std::vector<T> readArray(const std::string& path, size_t count) {
    std::ifstream in(path, std::ios::binary | std::ios::ate);
    const auto bytes = static_cast<std::streamoff>(count * sizeof(T));
    if (!in) abandon(path + ": no such file");
    if (in.tellg() != bytes) abandon(path + ": expected " + std::to_string(bytes) + " bytes");
    std::vector<T> values(count);
    in.seekg(0);
    if (!in.read(reinterpret_cast<char*>(values.data()), bytes)) abandon(path + ": read error");
    return values;
}

int main() {
    const auto sizes = readArray<int32_t>("data/sizes.bin", 2);
    const int rows = sizes[0], cols = sizes[1];
    if (rows < 1 || rows > kMaxSize || cols < 1 || cols > kMaxSize) {
        abandon("data/sizes.bin: rows and cols must be in 1.." + std::to_string(kMaxSize));
    }
    std::vector<int64_t> values = readArray<int64_t>("data/matrix.bin", static_cast<size_t>(rows) * cols);
    const size_t bytes = values.size() * sizeof(int64_t);

    int64_t *matrix = nullptr, *flipped = nullptr;
    check(cudaMalloc(&matrix, bytes));
    check(cudaMalloc(&flipped, bytes));
    check(cudaMemcpy(matrix, values.data(), bytes, cudaMemcpyHostToDevice));
    const dim3 grid((cols + kTile - 1) / kTile, (rows + kTile - 1) / kTile);
    antiTranspose<<<grid, dim3(kTile, kThreadRows)>>>(matrix, flipped, rows, cols);
    check(cudaGetLastError());
    check(cudaMemcpy(values.data(), flipped, bytes, cudaMemcpyDeviceToHost));
    check(cudaFree(matrix));
    check(cudaFree(flipped));

    std::ofstream out("data/flipped.bin", std::ios::binary);
    out.write(reinterpret_cast<const char*>(values.data()), bytes);
    out.close();
    if (!out) abandon("data/flipped.bin: write error");
    return 0;
}
