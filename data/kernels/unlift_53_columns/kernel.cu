#include <cuda_runtime.h>

#include <cstdint>
#include <fstream>
#include <iostream>
#include <stdexcept>
#include <string>
#include <vector>

constexpr int kMaxSide = 16384;
constexpr int kThreads = 128, kPairsPerSlab = 32;

struct Column {
    const int16_t* bands;
    int width, evens, odds;

    __device__ int smooth(int i) const { return bands[static_cast<size_t>(i) * width]; }
    __device__ int detail(int i) const {  // mirrored at both ends
        const int inside = min(max(i, 0), odds - 1);
        return bands[static_cast<size_t>(evens + inside) * width];
    }
};

__global__ void unlift(const int16_t* __restrict__ bands, int* __restrict__ x, int height, int width) {
    const int c = blockIdx.x * kThreads + threadIdx.x;
    if (c >= width) return;
    const Column column = {bands + c, width, (height + 1) / 2, height / 2};
    const int first = blockIdx.y * kPairsPerSlab;
    const int last = min(first + kPairsPerSlab, column.evens);
    int* out = x + c;

    int difference = column.detail(first);
    int even = column.smooth(first) - ((column.detail(first - 1) + difference + 2) >> 2);
    for (int i = first; i < last; ++i) {
        out[static_cast<size_t>(2 * i) * width] = even;
        if (i >= column.odds) break;  // the last row of an odd height
        int nextEven = even, nextDifference = difference;
        if (i + 1 < column.evens) {
            nextDifference = column.detail(i + 1);
            nextEven = column.smooth(i + 1) - ((difference + nextDifference + 2) >> 2);
        }
        out[static_cast<size_t>(2 * i + 1) * width] = difference + ((even + nextEven) >> 1);
        even = nextEven;
        difference = nextDifference;
    }
}

void check(cudaError_t status, const char* what) {
    if (status != cudaSuccess) throw std::runtime_error(std::string(what) + ": " + cudaGetErrorString(status));
}

template <typename T>
std::vector<T> readFile(const std::string& path, size_t count) {
    std::ifstream in(path, std::ios::binary | std::ios::ate);
    if (!in || static_cast<size_t>(in.tellg()) != count * sizeof(T)) throw std::runtime_error(path + ": wrong length");
    std::vector<T> values(count);
    in.seekg(0);
    in.read(reinterpret_cast<char*>(values.data()), count * sizeof(T));
    if (!in) throw std::runtime_error(path + ": cannot be read");
    return values;
}

int main() {
    try {
        const auto sizes = readFile<int>("data/sizes.bin", 2);
        const int height = sizes[0], width = sizes[1];
        if (height < 2 || height > kMaxSide || width < 1 || width > kMaxSide) {
            throw std::runtime_error("data/sizes.bin: out of range");
        }
        const size_t count = static_cast<size_t>(height) * width;
        const auto bands = readFile<int16_t>("data/bands.bin", count);
        int16_t* dBands = nullptr;
        int* dX = nullptr;
        check(cudaMalloc(&dBands, count * sizeof(int16_t)), "cudaMalloc");
        check(cudaMalloc(&dX, count * sizeof(int)), "cudaMalloc");
        check(cudaMemcpy(dBands, bands.data(), count * sizeof(int16_t), cudaMemcpyHostToDevice), "upload");
        const int pairs = (height + 1) / 2;
        const dim3 grid((width + kThreads - 1) / kThreads, (pairs + kPairsPerSlab - 1) / kPairsPerSlab);
        unlift<<<grid, kThreads>>>(dBands, dX, height, width);
        check(cudaGetLastError(), "launch");
        std::vector<int> x(count);
        check(cudaMemcpy(x.data(), dX, count * sizeof(int), cudaMemcpyDeviceToHost), "download");
        check(cudaFree(dBands), "cudaFree");
        check(cudaFree(dX), "cudaFree");

        std::ofstream out("data/x.bin", std::ios::binary);
        out.write(reinterpret_cast<const char*>(x.data()), count * sizeof(int));
        out.close();
        if (!out) throw std::runtime_error("data/x.bin: cannot be written");
    } catch (const std::exception& error) {
        std::cerr << error.what() << std::endl;
        return 1;
    }
    return 0;
}
