#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <vector>

constexpr int kBins = 256;
constexpr int kThreads = 256;
constexpr int kWarps = kThreads / 32;
constexpr int kMaxBytes = 1 << 30;

__device__ __forceinline__ void countWord(uint32_t* bins, uint32_t word) {
    atomicAdd(&bins[word & 0xffu], 1u);
    atomicAdd(&bins[(word >> 8) & 0xffu], 1u);
    atomicAdd(&bins[(word >> 16) & 0xffu], 1u);
    atomicAdd(&bins[word >> 24], 1u);
}

__global__ void histogramBytes(const uint8_t* __restrict__ bytes, size_t n, uint32_t* __restrict__ histogram) {
    __shared__ uint32_t bins[kWarps][kBins];
    for (int b = threadIdx.x; b < kWarps * kBins; b += kThreads) {
        bins[b / kBins][b % kBins] = 0;
    }
    __syncthreads();

    uint32_t* mine = bins[threadIdx.x / 32];
    const uint4* vectors = reinterpret_cast<const uint4*>(bytes);
    const size_t vectorCount = n / sizeof(uint4);
    const size_t stride = static_cast<size_t>(gridDim.x) * kThreads;
    const size_t first = static_cast<size_t>(blockIdx.x) * kThreads + threadIdx.x;
    for (size_t i = first; i < vectorCount; i += stride) {
        uint4 v = vectors[i];
        countWord(mine, v.x);
        countWord(mine, v.y);
        countWord(mine, v.z);
        countWord(mine, v.w);
    }
    // The bytes after the last whole vector are fewer than 16: the first threads of block 0 take one each.
    size_t tail = vectorCount * sizeof(uint4) + first;
    if (tail < n) {
        atomicAdd(&mine[bytes[tail]], 1u);
    }
    __syncthreads();

    for (int b = threadIdx.x; b < kBins; b += kThreads) {
        uint32_t sum = 0;
        for (int w = 0; w < kWarps; ++w) sum += bins[w][b];
        if (sum > 0) atomicAdd(&histogram[b], sum);
    }
}

static void check(cudaError_t status, const char* action) {
    if (status == cudaSuccess) return;
    std::fprintf(stderr, "%s failed: %s\n", action, cudaGetErrorString(status));
    std::exit(EXIT_FAILURE);
}

static void readFile(const char* path, void* target, size_t size) {
    std::ifstream in(path, std::ios::binary | std::ios::ate);
    if (!in || static_cast<size_t>(in.tellg()) != size) {
        std::fprintf(stderr, "%s: expected %zu bytes\n", path, size);
        std::exit(EXIT_FAILURE);
    }
    in.seekg(0);
    in.read(static_cast<char*>(target), size);
    if (!in) {
        std::fprintf(stderr, "%s: read error\n", path);
        std::exit(EXIT_FAILURE);
    }
}

int main() {
    int32_t count = 0;
    readFile("data/sizes.bin", &count, sizeof(count));
    if (count < 1 || count > kMaxBytes) {
        std::fprintf(stderr, "data/sizes.bin: %d is not in 1..%d\n", count, kMaxBytes);
        return EXIT_FAILURE;
    }
    const size_t n = count;
    std::vector<uint8_t> bytes(n);
    readFile("data/bytes.bin", bytes.data(), n);

    int device = 0, multiprocessors = 0;
    check(cudaGetDevice(&device), "cudaGetDevice");
    check(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device), "device query");

    uint8_t* dBytes = nullptr;
    uint32_t* dHistogram = nullptr;
    check(cudaMalloc(&dBytes, n), "cudaMalloc");
    check(cudaMalloc(&dHistogram, kBins * sizeof(uint32_t)), "cudaMalloc");
    check(cudaMemcpy(dBytes, bytes.data(), n, cudaMemcpyHostToDevice), "copy to the device");
    check(cudaMemset(dHistogram, 0, kBins * sizeof(uint32_t)), "cudaMemset");

    histogramBytes<<<4 * multiprocessors, kThreads>>>(dBytes, n, dHistogram);
    check(cudaGetLastError(), "launch");

    uint32_t histogram[kBins];
    check(cudaMemcpy(histogram, dHistogram, sizeof(histogram), cudaMemcpyDeviceToHost), "copy to the host");
    check(cudaFree(dBytes), "cudaFree");
    check(cudaFree(dHistogram), "cudaFree");

    std::ofstream out("data/histogram.bin", std::ios::binary);
    out.write(reinterpret_cast<const char*>(histogram), sizeof(histogram));
    out.close();
    return out ? EXIT_SUCCESS : EXIT_FAILURE;
}
