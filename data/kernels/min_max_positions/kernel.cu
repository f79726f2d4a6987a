#include <cuda_runtime.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <vector>

using Key = unsigned long long;

constexpr int kThreads = 256;
constexpr int kWarps = kThreads / 32;
constexpr int kMaxSamples = 1 << 28;
constexpr unsigned kFull = 0xffffffffu;
constexpr unsigned kSign = 0x80000000u;

struct Extremes {
    Key lowest;   // ordered sample, then the index
    Key highest;  // ordered sample, then the complement of the index
};

__device__ void reduceWarp(Key& lowest, Key& highest) {
    for (int distance = 16; distance > 0; distance /= 2) {
        lowest = min(lowest, __shfl_xor_sync(kFull, lowest, distance));
        highest = max(highest, __shfl_xor_sync(kFull, highest, distance));
    }
}

__global__ void findExtremes(const int32_t* __restrict__ samples, Extremes* result, int n) {
    __shared__ Key lows[kWarps], highs[kWarps];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;

    Key lowest = ~0ULL, highest = 0ULL;
    for (unsigned i = blockIdx.x * kThreads + threadIdx.x; i < static_cast<unsigned>(n); i += gridDim.x * kThreads) {
        const Key ordered = static_cast<Key>(static_cast<unsigned>(samples[i]) ^ kSign) << 32;
        lowest = min(lowest, ordered | i);
        highest = max(highest, ordered | (0xffffffffu - i));
    }
    reduceWarp(lowest, highest);
    if (lane == 0) {
        lows[warp] = lowest;
        highs[warp] = highest;
    }
    __syncthreads();
    if (warp == 0) {
        lowest = lows[lane % kWarps];
        highest = highs[lane % kWarps];
        reduceWarp(lowest, highest);
        if (lane == 0) {
            atomicMin(&result->lowest, lowest);
            atomicMax(&result->highest, highest);
        }
    }
}

static void check(cudaError_t status, int line) {
    if (status != cudaSuccess) {
        std::fprintf(stderr, "CUDA error before line %d: %s\n", line, cudaGetErrorString(status));
        std::exit(EXIT_FAILURE);
    }
}
#define CHECK(call) check((call), __LINE__)

static std::vector<int32_t> readInts(const char* path, size_t count) {
    std::vector<int32_t> values(count);
    const std::streamsize bytes = count * sizeof(int32_t);
    std::ifstream in(path, std::ios::binary | std::ios::ate);
    if (!in || in.tellg() != bytes || !in.seekg(0).read(reinterpret_cast<char*>(values.data()), bytes)) {
        std::fprintf(stderr, "%s: expected %zu integers\n", path, count);
        std::exit(EXIT_FAILURE);
    }
    return values;
}

static void writePair(const char* path, int32_t first, int32_t second) {
    const int32_t pair[2] = {first, second};
    std::ofstream out(path, std::ios::binary);
    out.write(reinterpret_cast<const char*>(pair), sizeof(pair));
    out.close();
    if (!out) {
        std::fprintf(stderr, "%s: cannot be written\n", path);
        std::exit(EXIT_FAILURE);
    }
}

static int32_t sampleOf(Key key) { return static_cast<int32_t>(static_cast<uint32_t>(key >> 32) ^ kSign); }

int main() {
    const int n = readInts("data/sizes.bin", 1)[0];
    if (n < 1 || n > kMaxSamples) {
        std::fprintf(stderr, "data/sizes.bin: %d is not in 1..%d\n", n, kMaxSamples);
        return EXIT_FAILURE;
    }
    const std::vector<int32_t> samples = readInts("data/samples.bin", n);

    int device = 0, processors = 0, blocksEach = 0;
    CHECK(cudaGetDevice(&device));
    CHECK(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device));
    CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocksEach, findExtremes, kThreads, 0));
    const int blocks = std::min((n + kThreads - 1) / kThreads, processors * blocksEach);

    int32_t* dSamples = nullptr;
    Extremes* dResult = nullptr;
    Extremes result = {~0ULL, 0ULL};
    CHECK(cudaMalloc(&dSamples, n * sizeof(int32_t)));
    CHECK(cudaMalloc(&dResult, sizeof(Extremes)));
    CHECK(cudaMemcpy(dSamples, samples.data(), n * sizeof(int32_t), cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(dResult, &result, sizeof(Extremes), cudaMemcpyHostToDevice));
    findExtremes<<<blocks, kThreads>>>(dSamples, dResult, n);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(&result, dResult, sizeof(Extremes), cudaMemcpyDeviceToHost));
    CHECK(cudaFree(dSamples));
    CHECK(cudaFree(dResult));

    writePair("data/extremes.bin", sampleOf(result.lowest), sampleOf(result.highest));
    writePair("data/positions.bin", static_cast<int32_t>(static_cast<uint32_t>(result.lowest)),
              static_cast<int32_t>(~static_cast<uint32_t>(result.highest)));
    return EXIT_SUCCESS;
}
