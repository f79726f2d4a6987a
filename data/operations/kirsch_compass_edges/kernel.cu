#include <cstdint>
#include <fstream>
#include <iostream>
#include <stdexcept>
#include <string>
#include <vector>
#include <cuda_runtime.h>

constexpr int kHeight = 48;
constexpr int kWidth = 64;
constexpr int kTile = 16;

template <typename T>
struct GpuArray {
    T* data = nullptr;
    explicit GpuArray(size_t count) {
        if (cudaMalloc(&data, count * sizeof(T)) != cudaSuccess) throw std::runtime_error("cudaMalloc failed");
    }
    ~GpuArray() { cudaFree(data); }
    GpuArray(const GpuArray&) = delete;
    GpuArray& operator=(const GpuArray&) = delete;
};

template <typename T>
std::vector<T> readAll(const std::string& path, size_t count) {
    std::vector<T> host(count);
    std::ifstream in(path, std::ios::binary);
    if (!in.read((char*)host.data(), count * sizeof(T))) throw std::runtime_error("cannot read " + path);
    return host;
}

// A response is 8 times the sum of three neighbours minus 3 times that of all, so only sums of three compete.
__global__ void kirsch_tile(const uint8_t* __restrict__ gray, int* __restrict__ strength,
                            uint8_t* __restrict__ direction) {
    __shared__ int s[kTile + 2][kTile + 2];
    for (int k = threadIdx.y * kTile + threadIdx.x; k < (kTile + 2) * (kTile + 2); k += kTile * kTile) {
        int r = k / (kTile + 2), c = k % (kTile + 2);
        int y = min(max((int)blockIdx.y * kTile + r - 1, 0), kHeight - 1);
        int x = min(max((int)blockIdx.x * kTile + c - 1, 0), kWidth - 1);
        s[r][c] = gray[y * kWidth + x];
    }
    __syncthreads();
    const int x = blockIdx.x * kTile + threadIdx.x, y = blockIdx.y * kTile + threadIdx.y;
    if (x >= kWidth || y >= kHeight) return;
    const int r = threadIdx.y, c = threadIdx.x;
    const int n[8] = {s[r][c + 1], s[r][c + 2], s[r + 1][c + 2], s[r + 2][c + 2],
                      s[r + 2][c + 1], s[r + 2][c], s[r + 1][c], s[r][c]};
    int three = n[7] + n[0] + n[1], total = 0, best = three, where = 0;
    for (int d = 0; d < 8; ++d) {
        total += n[d];
        if (three > best) {
            best = three;
            where = d;
        }
        three += n[(d + 2) & 7] - n[(d + 7) & 7];
    }
    strength[y * kWidth + x] = 8 * best - 3 * total;
    direction[y * kWidth + x] = (uint8_t)where;
}

int main() try {
    const size_t count = (size_t)kHeight * kWidth;
    std::vector<uint8_t> gray = readAll<uint8_t>("data/gray.bin", count);
    GpuArray<uint8_t> d_gray(count);
    GpuArray<int> d_strength(count);
    GpuArray<uint8_t> d_direction(count);
    cudaMemcpy(d_gray.data, gray.data(), count * sizeof(uint8_t), cudaMemcpyHostToDevice);

    kirsch_tile<<<dim3((kWidth + kTile - 1) / kTile, (kHeight + kTile - 1) / kTile), dim3(kTile,
            kTile)>>>(d_gray.data, d_strength.data, d_direction.data);
    if (cudaDeviceSynchronize() != cudaSuccess) throw std::runtime_error("kernel failed");

    std::vector<int> strength(count);
    cudaMemcpy(strength.data(), d_strength.data, count * sizeof(int), cudaMemcpyDeviceToHost);
    std::ofstream("data/strength.bin", std::ios::binary)
        .write((const char*)strength.data(), count * sizeof(int));
    std::vector<uint8_t> direction(count);
    cudaMemcpy(direction.data(), d_direction.data, count * sizeof(uint8_t), cudaMemcpyDeviceToHost);
    std::ofstream("data/direction.bin", std::ios::binary)
        .write((const char*)direction.data(), count * sizeof(uint8_t));
    return 0;
} catch (const std::exception& e) {
    std::cerr << e.what() << '\n';
    return 1;
}
