#include <cuda_runtime.h>

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <iostream>
#include <memory>
#include <stdexcept>
#include <string>

constexpr int kMaxBytes = 268435456;
constexpr int kValues = 256;
constexpr int kThreads = kValues;  // thread t looks after value t
constexpr int kBlocksPerMultiprocessor = 4;
constexpr int kVector = 16;

__global__ void countBytes(const uint8_t* __restrict__ data, int n, int* __restrict__ counts) {
    __shared__ int counters[kValues];
    counters[threadIdx.x] = 0;
    __syncthreads();
    for (int i = blockIdx.x * kThreads + threadIdx.x; i < n; i += gridDim.x * kThreads) {
        atomicAdd(&counters[data[i]], 1);
    }
    __syncthreads();
    if (counters[threadIdx.x] > 0) atomicAdd(&counts[threadIdx.x], counters[threadIdx.x]);
}

__global__ void startPositions(const int* __restrict__ counts, int* __restrict__ starts) {
    __shared__ int sums[kValues];
    const int v = threadIdx.x;
    sums[v] = counts[v];
    __syncthreads();
    for (int step = 1; step < kValues; step *= 2) {
        const int before = v >= step ? sums[v - step] : 0;
        __syncthreads();
        sums[v] += before;
        __syncthreads();
    }
    starts[v + 1] = sums[v];
    if (v == 0) starts[0] = 0;
}

__global__ void fillSorted(const int* __restrict__ starts, int vectors, uint4* __restrict__ sorted) {
    __shared__ int start[kValues + 1];
    for (int v = threadIdx.x; v <= kValues; v += kThreads) start[v] = starts[v];
    __syncthreads();
    const int vector = blockIdx.x * kThreads + threadIdx.x;
    if (vector >= vectors) return;

    const int first = vector * kVector;
    int value = 0;  // becomes the last value with start[value] <= first
    for (int step = kValues / 2; step > 0; step /= 2) {
        if (start[value + step] <= first) value += step;
    }
    uint32_t words[4] = {};
#pragma unroll
    for (int i = 0; i < kVector; ++i) {
        while (value < kValues - 1 && start[value + 1] <= first + i) ++value;
        words[i / 4] |= static_cast<uint32_t>(value) << (8 * (i % 4));
    }
    sorted[vector] = make_uint4(words[0], words[1], words[2], words[3]);
}

static void check(cudaError_t status) {
    if (status != cudaSuccess) throw std::runtime_error(std::string("CUDA: ") + cudaGetErrorString(status));
}

struct Release {
    void operator()(void* pointer) const { cudaFree(pointer); }
};

template <typename T>
static std::unique_ptr<T[], Release> managed(size_t count) {
    T* pointer;
    check(cudaMallocManaged(&pointer, count * sizeof(T)));
    return std::unique_ptr<T[], Release>(pointer);
}

static void readFile(const std::string& path, void* target, size_t bytes) {
    std::ifstream in(path, std::ios::binary | std::ios::ate);
    if (!in || static_cast<size_t>(in.tellg()) != bytes || !in.seekg(0).read(static_cast<char*>(target), bytes)) {
        throw std::runtime_error(path + ": missing, unreadable or not of the right length");
    }
}

static void run() {
    int32_t n;
    readFile("data/sizes.bin", &n, sizeof(n));
    if (n < 1 || n > kMaxBytes) throw std::runtime_error("data/sizes.bin: n is out of range");
    const int vectors = (n + kVector - 1) / kVector;
    const auto data = managed<uint8_t>(n);
    const auto counts = managed<int>(kValues);
    const auto starts = managed<int>(kValues + 1);
    const auto sorted = managed<uint4>(vectors);
    readFile("data/data.bin", data.get(), n);
    std::fill_n(counts.get(), kValues, 0);

    int device, multiprocessors;
    check(cudaGetDevice(&device));
    check(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device));
    const int countBlocks = std::min((n + kThreads - 1) / kThreads, kBlocksPerMultiprocessor * multiprocessors);
    countBytes<<<countBlocks, kThreads>>>(data.get(), n, counts.get());
    check(cudaGetLastError());
    startPositions<<<1, kValues>>>(counts.get(), starts.get());
    check(cudaGetLastError());
    fillSorted<<<(vectors + kThreads - 1) / kThreads, kThreads>>>(starts.get(), vectors, sorted.get());
    check(cudaGetLastError());
    check(cudaDeviceSynchronize());

    std::ofstream out("data/sorted.bin", std::ios::binary);
    out.write(reinterpret_cast<const char*>(sorted.get()), n);
    out.close();
    if (!out) throw std::runtime_error("data/sorted.bin: cannot be written");
}

int main() {
    try {
        run();
        return 0;
    } catch (const std::exception& error) {
        std::cerr << error.what() << '\n';
        return 1;
    }
}
