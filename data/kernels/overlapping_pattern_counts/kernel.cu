#include <cuda_runtime.h>

#include <climits>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define CUDA_DO(call)                                                                          \
    do {                                                                                       \
        cudaError_t why = (call);                                                              \
        if (why != cudaSuccess) {                                                              \
            std::fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(why));  \
            std::exit(1);                                                                      \
        }                                                                                      \
    } while (0)

constexpr int MAX_PATTERNS = 64, WIDTH = 16;

template <typename T>
static std::vector<T> readArray(const char* path, size_t count, size_t padding = 0) {
    std::vector<T> values(count + padding);
    std::FILE* file = std::fopen(path, "rb");
    if (!file || std::fread(values.data(), sizeof(T), count, file) != count || std::fgetc(file) != EOF) {
        std::fprintf(stderr, "%s: expected %zu values\n", path, count);
        std::exit(1);
    }
    std::fclose(file);
    return values;
}

static void writeInts(const char* path, const std::vector<int>& values) {
    std::FILE* file = std::fopen(path, "wb");
    if (!file || std::fwrite(values.data(), sizeof(int), values.size(), file) != values.size() || std::fclose(file)) {
        std::fprintf(stderr, "%s: cannot write\n", path);
        std::exit(1);
    }
}

constexpr int THREADS = 256;

struct Pattern {
    uint32_t word[4], mask[4];
};
__constant__ Pattern kPatterns[MAX_PATTERNS];
__constant__ int kLengths[MAX_PATTERNS];

// The text is padded to whole words and four words more.
__global__ void search(const uint32_t* __restrict__ words, int* counts, int* first, int n, int patterns) {
    __shared__ int found[MAX_PATTERNS], earliest[MAX_PATTERNS];
    for (int p = threadIdx.x; p < patterns; p += THREADS) {
        found[p] = 0;
        earliest[p] = INT_MAX;
    }
    __syncthreads();
    for (int at = blockIdx.x * THREADS + threadIdx.x; at < n; at += gridDim.x * THREADS) {
        uint32_t text[5], own[4];
        for (int k = 0; k < 5; ++k) text[k] = words[at / 4 + k];
        for (int k = 0; k < 4; ++k) own[k] = __funnelshift_r(text[k], text[k + 1], 8 * (at % 4));
        for (int p = 0; p < patterns; ++p) {
            uint32_t differs = 0;
            for (int k = 0; k < 4; ++k) differs |= (own[k] ^ kPatterns[p].word[k]) & kPatterns[p].mask[k];
            if (differs == 0 && at + kLengths[p] <= n) {
                atomicAdd(&found[p], 1);
                atomicMin(&earliest[p], at);
            }
        }
    }
    __syncthreads();
    for (int p = threadIdx.x; p < patterns; p += THREADS) {
        if (found[p] > 0) {
            atomicAdd(&counts[p], found[p]);
            atomicMin(&first[p], earliest[p]);
        }
    }
}

int main() {
    const auto sizes = readArray<int>("data/sizes.bin", 2);
    const int n = sizes[0], patterns = sizes[1];
    if (n < 1 || n > 8000000 || patterns < 1 || patterns > MAX_PATTERNS) {
        std::fprintf(stderr, "data/sizes.bin: out of range\n");
        return 1;
    }
    const auto text = readArray<uint8_t>("data/text.bin", n, 24);
    const auto table = readArray<uint8_t>("data/patterns.bin", static_cast<size_t>(patterns) * WIDTH);
    const auto lengths = readArray<int>("data/lengths.bin", patterns);
    for (int length : lengths) {
        if (length < 1 || length > WIDTH) return 1;
    }
    std::vector<int> counts(patterns, 0), first(patterns, INT_MAX);
    uint8_t* dText;
    int *dCounts, *dFirst;
    CUDA_DO(cudaMalloc(&dText, text.size()));
    CUDA_DO(cudaMalloc(&dCounts, patterns * sizeof(int)));
    CUDA_DO(cudaMalloc(&dFirst, patterns * sizeof(int)));
    CUDA_DO(cudaMemcpy(dText, text.data(), text.size(), cudaMemcpyHostToDevice));
    CUDA_DO(cudaMemcpy(dCounts, counts.data(), patterns * sizeof(int), cudaMemcpyHostToDevice));
    CUDA_DO(cudaMemcpy(dFirst, first.data(), patterns * sizeof(int), cudaMemcpyHostToDevice));
    std::vector<Pattern> packed(patterns);
    for (int p = 0; p < patterns; ++p) {
        for (int k = 0; k < WIDTH; ++k) {
            const uint32_t used = k < lengths[p] ? 0xffu : 0u, byte = table[p * WIDTH + k];
            if (k % 4 == 0) packed[p].word[k / 4] = packed[p].mask[k / 4] = 0;
            packed[p].word[k / 4] |= byte << (8 * (k % 4));
            packed[p].mask[k / 4] |= used << (8 * (k % 4));
        }
    }
    CUDA_DO(cudaMemcpyToSymbol(kPatterns, packed.data(), patterns * sizeof(Pattern)));
    CUDA_DO(cudaMemcpyToSymbol(kLengths, lengths.data(), patterns * sizeof(int)));
    const int wanted = (n + THREADS - 1) / THREADS;
    search<<<wanted < 1024 ? wanted : 1024, THREADS>>>(reinterpret_cast<const uint32_t*>(dText), dCounts, dFirst, n,
                                                       patterns);
    CUDA_DO(cudaGetLastError());
    CUDA_DO(cudaMemcpy(counts.data(), dCounts, patterns * sizeof(int), cudaMemcpyDeviceToHost));
    CUDA_DO(cudaMemcpy(first.data(), dFirst, patterns * sizeof(int), cudaMemcpyDeviceToHost));
    for (int& position : first) position = position == INT_MAX ? -1 : position;
    CUDA_DO(cudaFree(dText));
    CUDA_DO(cudaFree(dCounts));
    CUDA_DO(cudaFree(dFirst));
    writeInts("data/counts.bin", counts);
    writeInts("data/first.bin", first);
    return 0;
}
