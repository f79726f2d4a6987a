#include <cuda_runtime.h>

#include <cstdint>
#include <fstream>
#include <iostream>
#include <stdexcept>
#include <string>
#include <vector>

constexpr int kMaxBlocks = 256, kSide = 32, kRows = 8;

__global__ void quantise(const float* __restrict__ w, const int* __restrict__ exponent, int* __restrict__ q,
                         int* __restrict__ planes) {
    __shared__ unsigned warpBits[kRows];
    const int codeBlock = blockIdx.y * gridDim.x + blockIdx.x;
    const int e = exponent[codeBlock];
    const size_t width = static_cast<size_t>(gridDim.x) * kSide;
    unsigned bits = 0;
    for (int r = threadIdx.y; r < kSide; r += kRows) {
        const size_t at = (blockIdx.y * kSide + r) * width + blockIdx.x * kSide + threadIdx.x;
        const float value = w[at];
        const int magnitude = static_cast<int>(ldexpf(fabsf(value), -e));
        bits |= static_cast<unsigned>(magnitude);
        q[at] = value < 0.0f ? -magnitude : magnitude;
    }
    bits = __reduce_or_sync(0xFFFFFFFFu, bits);
    if (threadIdx.x == 0) warpBits[threadIdx.y] = bits;
    __syncthreads();
    if (threadIdx.x == 0 && threadIdx.y == 0) {
        for (int k = 1; k < kRows; ++k) bits |= warpBits[k];
        planes[codeBlock] = 32 - __clz(static_cast<int>(bits));
    }
}

static void check(cudaError_t status, const char* step) {
    if (status != cudaSuccess) throw std::runtime_error(std::string(step) + ": " + cudaGetErrorString(status));
}

template <typename T>
static std::vector<T> readFile(const std::string& path, size_t count) {
    std::vector<T> values(count);
    std::ifstream in(path, std::ios::binary | std::ios::ate);
    if (!in || static_cast<size_t>(in.tellg()) != count * sizeof(T)) throw std::runtime_error(path + ": wrong length");
    in.seekg(0).read(reinterpret_cast<char*>(values.data()), count * sizeof(T));
    if (!in) throw std::runtime_error(path + ": cannot be read");
    return values;
}

static void writeInts(const std::string& path, const int* device, size_t count) {
    std::vector<int> values(count);
    check(cudaMemcpy(values.data(), device, count * sizeof(int), cudaMemcpyDeviceToHost), "download");
    std::ofstream out(path, std::ios::binary);
    out.write(reinterpret_cast<const char*>(values.data()), count * sizeof(int));
    out.close();
    if (!out) throw std::runtime_error(path + ": cannot be written");
}

int main() {
    try {
        const auto sizes = readFile<int>("data/sizes.bin", 2);
        const int blockRows = sizes[0], blockCols = sizes[1];
        if (blockRows < 1 || blockRows > kMaxBlocks || blockCols < 1 || blockCols > kMaxBlocks) {
            throw std::runtime_error("data/sizes.bin: out of range");
        }
        const size_t blocks = static_cast<size_t>(blockRows) * blockCols, count = blocks * kSide * kSide;
        const auto w = readFile<float>("data/w.bin", count);
        const auto exponent = readFile<int>("data/exponent.bin", blocks);
        for (int e : exponent) {
            if (e < -8 || e > 8) throw std::runtime_error("data/exponent.bin: exponents are -8 to 8");
        }
        float* dW = nullptr;
        int *dExponent = nullptr, *dQ = nullptr, *dPlanes = nullptr;
        check(cudaMalloc(&dW, count * sizeof(float)), "malloc");
        check(cudaMalloc(&dExponent, blocks * sizeof(int)), "malloc");
        check(cudaMalloc(&dQ, count * sizeof(int)), "malloc");
        check(cudaMalloc(&dPlanes, blocks * sizeof(int)), "malloc");
        check(cudaMemcpy(dW, w.data(), count * sizeof(float), cudaMemcpyHostToDevice), "upload");
        check(cudaMemcpy(dExponent, exponent.data(), blocks * sizeof(int), cudaMemcpyHostToDevice), "upload");
        quantise<<<dim3(blockCols, blockRows), dim3(kSide, kRows)>>>(dW, dExponent, dQ, dPlanes);
        check(cudaGetLastError(), "launch");
        writeInts("data/q.bin", dQ, count);
        writeInts("data/planes.bin", dPlanes, blocks);
        check(cudaFree(dW), "free");
        check(cudaFree(dExponent), "free");
        check(cudaFree(dQ), "free");
        check(cudaFree(dPlanes), "free");
    } catch (const std::exception& error) {
        std::cerr << error.what() << std::endl;
        return 1;
    }
    return 0;
}
