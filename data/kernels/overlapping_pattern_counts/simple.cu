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

__global__ void search(const uint8_t* text, const uint8_t* patterns, const int* lengths, int* counts, int* first,
                       int n, int count) {
    const int at = blockIdx.x * blockDim.x + threadIdx.x;
    for (int p = 0; p < count; ++p) {
        if (at + lengths[p] > n) continue;
        int k = 0;
        while (k < lengths[p] && text[at + k] == patterns[p * WIDTH + k]) ++k;
        if (k < lengths[p]) continue;
        atomicAdd(&counts[p], 1);
        atomicMin(&first[p], at);
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
    uint8_t* dPatterns;
    int* dLengths;
    CUDA_DO(cudaMalloc(&dPatterns, table.size()));
    CUDA_DO(cudaMalloc(&dLengths, patterns * sizeof(int)));
    CUDA_DO(cudaMemcpy(dPatterns, table.data(), table.size(), cudaMemcpyHostToDevice));
    CUDA_DO(cudaMemcpy(dLengths, lengths.data(), patterns * sizeof(int), cudaMemcpyHostToDevice));
    search<<<(n + 127) / 128, 128>>>(dText, dPatterns, dLengths, dCounts, dFirst, n, patterns);
    CUDA_DO(cudaDeviceSynchronize());
    CUDA_DO(cudaFree(dPatterns));
    CUDA_DO(cudaFree(dLengths));
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
