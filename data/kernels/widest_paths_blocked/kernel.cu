#include <cuda_runtime.h>

#include <climits>
#include <cstdint>
#include <fstream>
#include <iostream>
#include <stdexcept>
#include <string>
#include <vector>

constexpr int kTile = 32;

__device__ int wider(int present, int first, int second) { return max(present, min(first, second)); }

__global__ void closeDiagonal(int* width, int pitch, int round) {
    __shared__ int tile[kTile][kTile];
    const int x = threadIdx.x, y = threadIdx.y;
    int* cell = width + static_cast<size_t>(round * kTile + y) * pitch + round * kTile + x;
    int value = *cell;
    tile[y][x] = value;
    for (int k = 0; k < kTile; ++k) {
        __syncthreads();
        value = wider(value, tile[y][k], tile[k][x]);
        __syncthreads();
        tile[y][x] = value;
    }
    *cell = value;
}

// blockIdx.y 0: tiles of the row of tiles `round`; 1: tiles of the column.
__global__ void closeCross(int* width, int pitch, int round) {
    __shared__ int diagonal[kTile][kTile], tile[kTile][kTile];
    if (blockIdx.x == round) return;
    const int x = threadIdx.x, y = threadIdx.y;
    const bool inRow = blockIdx.y == 0;
    const int tileRow = inRow ? round : blockIdx.x, tileCol = inRow ? blockIdx.x : round;
    int* cell = width + static_cast<size_t>(tileRow * kTile + y) * pitch + tileCol * kTile + x;
    int value = *cell;
    diagonal[y][x] = width[static_cast<size_t>(round * kTile + y) * pitch + round * kTile + x];
    tile[y][x] = value;
    for (int k = 0; k < kTile; ++k) {
        __syncthreads();
        value = inRow ? wider(value, diagonal[y][k], tile[k][x]) : wider(value, tile[y][k], diagonal[k][x]);
        __syncthreads();
        tile[y][x] = value;
    }
    *cell = value;
}

__global__ void closeRest(int* width, int pitch, int round) {
    __shared__ int left[kTile][kTile], above[kTile][kTile];
    if (blockIdx.x == round || blockIdx.y == round) return;
    const int x = threadIdx.x, y = threadIdx.y;
    const size_t row = static_cast<size_t>(blockIdx.y * kTile + y) * pitch;
    left[y][x] = width[row + round * kTile + x];
    above[y][x] = width[static_cast<size_t>(round * kTile + y) * pitch + blockIdx.x * kTile + x];
    __syncthreads();
    int value = width[row + blockIdx.x * kTile + x];
    for (int k = 0; k < kTile; ++k) value = wider(value, left[y][k], above[k][x]);
    width[row + blockIdx.x * kTile + x] = value;
}

static void check(cudaError_t status) {
    if (status != cudaSuccess) throw std::runtime_error(cudaGetErrorString(status));
}

static std::vector<int> readInts(const std::string& path, size_t count) {
    std::vector<int> values(count);
    std::ifstream in(path, std::ios::binary);
    in.read(reinterpret_cast<char*>(values.data()), count * sizeof(int));
    if (!in || in.peek() != EOF) throw std::runtime_error(path + ": wrong size");
    return values;
}

int main() {
    try {
        const int n = readInts("data/sizes.bin", 1)[0];
        if (n < 1 || n > 2048) throw std::runtime_error("data/sizes.bin: out of range");
        std::vector<int> capacity = readInts("data/capacity.bin", static_cast<size_t>(n) * n);
        for (int i = 0; i < n; ++i) {
            for (int j = 0; j < n; ++j) {
                int& c = capacity[static_cast<size_t>(i) * n + j];
                if (c < 0) throw std::runtime_error("data/capacity.bin: negative");
                if (i == j) c = INT_MAX;
            }
        }
        const int tiles = (n + kTile - 1) / kTile, pitch = tiles * kTile;
        int* width = nullptr;
        check(cudaMalloc(&width, static_cast<size_t>(pitch) * pitch * sizeof(int)));
        check(cudaMemset(width, 0, static_cast<size_t>(pitch) * pitch * sizeof(int)));
        const size_t rowBytes = n * sizeof(int), pitchBytes = pitch * sizeof(int);
        check(cudaMemcpy2D(width, pitchBytes, capacity.data(), rowBytes, rowBytes, n, cudaMemcpyHostToDevice));

        const dim3 block(kTile, kTile);
        for (int round = 0; round < tiles; ++round) {
            closeDiagonal<<<1, block>>>(width, pitch, round);
            check(cudaGetLastError());
            closeCross<<<dim3(tiles, 2), block>>>(width, pitch, round);
            check(cudaGetLastError());
            closeRest<<<dim3(tiles, tiles), block>>>(width, pitch, round);
            check(cudaGetLastError());
        }
        check(cudaMemcpy2D(capacity.data(), rowBytes, width, pitchBytes, rowBytes, n, cudaMemcpyDeviceToHost));
        check(cudaFree(width));

        std::ofstream out("data/width.bin", std::ios::binary);
        out.write(reinterpret_cast<const char*>(capacity.data()), capacity.size() * sizeof(int));
        out.close();
        if (!out) throw std::runtime_error("data/width.bin: cannot be written");
    } catch (const std::exception& error) {
        std::cerr << error.what() << std::endl;
        return 1;
    }
    return 0;
}
