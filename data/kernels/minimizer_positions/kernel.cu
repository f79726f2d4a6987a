#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

constexpr int WORD = 15, MAX_LENGTH = 2048, MAX_WINDOW = 64;

#define HANDLE(call)                                                              \
    do {                                                                          \
        cudaError_t bad = (call);                                                 \
        if (bad != cudaSuccess) {                                                 \
            std::fprintf(stderr, "%s (%s)\n", cudaGetErrorString(bad), #call);    \
            std::exit(1);                                                         \
        }                                                                         \
    } while (0)

static void readExact(const char* path, void* target, size_t bytes) {
    std::FILE* file = std::fopen(path, "rb");
    if (!file || std::fread(target, 1, bytes, file) != bytes || std::fgetc(file) != EOF) {
        std::fprintf(stderr, "%s: not %zu bytes\n", path, bytes);
        std::exit(1);
    }
    std::fclose(file);
}

static void writeInts(const char* path, const int* device, size_t count) {
    std::vector<int> values(count);
    HANDLE(cudaMemcpy(values.data(), device, count * sizeof(int), cudaMemcpyDeviceToHost));
    std::FILE* file = std::fopen(path, "wb");
    if (!file || std::fwrite(values.data(), sizeof(int), count, file) != count || std::fclose(file) != 0) {
        std::fprintf(stderr, "%s: cannot write\n", path);
        std::exit(1);
    }
}

__device__ __forceinline__ uint32_t codeOf(uint8_t base) {
    return base == 'A' ? 0 : base == 'C' ? 1 : base == 'G' ? 2 : 3;
}

constexpr int THREADS = 256;

__global__ void findMinimizers(const uint8_t* __restrict__ bases, int* __restrict__ positions,
                               int* __restrict__ distinct, int length, int window) {
    __shared__ uint8_t codes[MAX_LENGTH];
    __shared__ uint64_t prefix[MAX_LENGTH], suffix[MAX_LENGTH];
    __shared__ int chosen[MAX_LENGTH];
    const int words = length - WORD + 1, windows = words - window + 1;
    for (int i = threadIdx.x; i < length; i += THREADS) {
        codes[i] = static_cast<uint8_t>(codeOf(bases[static_cast<size_t>(blockIdx.x) * length + i]));
    }
    __syncthreads();
    for (int i = threadIdx.x; i < words; i += THREADS) {
        uint32_t word = 0;
        for (int k = 0; k < WORD; ++k) word = word << 2 | codes[i + k];
        prefix[i] = suffix[i] = static_cast<uint64_t>(word * 0x9E3779B1u) << 32 | static_cast<uint32_t>(i);
    }
    __syncthreads();
    // Minima from the start of each stretch of `window` words, and from its end.
    for (int first = threadIdx.x * window; first < words; first += THREADS * window) {
        const int last = min(first + window, words) - 1;
        for (int i = first + 1; i <= last; ++i) prefix[i] = min(prefix[i], prefix[i - 1]);
        for (int i = last - 1; i >= first; --i) suffix[i] = min(suffix[i], suffix[i + 1]);
    }
    __syncthreads();
    for (int i = threadIdx.x; i < windows; i += THREADS) {
        const uint64_t smallest = min(suffix[i], prefix[i + window - 1]);
        chosen[i] = static_cast<int>(smallest & 0xffffffffu);
        positions[static_cast<size_t>(blockIdx.x) * windows + i] = chosen[i];
    }
    __syncthreads();
    int changes = 0;
    for (int first = 0; first < windows; first += THREADS) {
        const int i = first + threadIdx.x;
        changes += __syncthreads_count(i < windows && (i == 0 || chosen[i] != chosen[i - 1]));
    }
    if (threadIdx.x == 0) distinct[blockIdx.x] = changes;
}

int main() {
    int sizes[3];
    readExact("data/sizes.bin", sizes, sizeof sizes);
    const int reads = sizes[0], length = sizes[1], window = sizes[2];
    const bool inRange = reads >= 1 && reads <= 65535 && length >= 32 && length <= MAX_LENGTH;
    if (!inRange || window < 2 || window > MAX_WINDOW || length - WORD + 1 < window) {
        std::fprintf(stderr, "data/sizes.bin: %d reads of %d, window %d\n", reads, length, window);
        return 1;
    }
    const int windows = length - WORD + 1 - window + 1;
    std::vector<uint8_t> bases(static_cast<size_t>(reads) * length);
    readExact("data/bases.bin", bases.data(), bases.size());
    uint8_t* dBases;
    int *dPositions, *dDistinct;
    HANDLE(cudaMalloc(&dBases, bases.size()));
    HANDLE(cudaMalloc(&dPositions, static_cast<size_t>(reads) * windows * sizeof(int)));
    HANDLE(cudaMalloc(&dDistinct, reads * sizeof(int)));
    HANDLE(cudaMemcpy(dBases, bases.data(), bases.size(), cudaMemcpyHostToDevice));
    findMinimizers<<<reads, THREADS>>>(dBases, dPositions, dDistinct, length, window);
    HANDLE(cudaGetLastError());
    writeInts("data/positions.bin", dPositions, static_cast<size_t>(reads) * windows);
    writeInts("data/distinct.bin", dDistinct, reads);
    HANDLE(cudaFree(dBases));
    HANDLE(cudaFree(dPositions));
    HANDLE(cudaFree(dDistinct));
    return 0;
}
