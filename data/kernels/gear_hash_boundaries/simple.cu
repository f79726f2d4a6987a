#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

static void must(bool good, const char* what) {
    if (good) return;
    fprintf(stderr, "%s\n", what);
    exit(1);
}
#define GPU(call) must((call) == cudaSuccess, cudaGetErrorString(cudaGetLastError()))

template <typename T>
static std::vector<T> readValues(const char* path, size_t count) {
    std::vector<T> values(count);
    FILE* file = fopen(path, "rb");
    must(file && fread(values.data(), sizeof(T), count, file) == count && fgetc(file) == EOF, path);
    fclose(file);
    return values;
}

static void writeBytes(const char* path, const void* data, size_t bytes) {
    FILE* file = fopen(path, "wb");
    must(file && fwrite(data, 1, bytes, file) == bytes && fclose(file) == 0, path);
}

// A thread makes one word and computes each hash from its 64 bytes anew.
__global__ void findBoundaries(const uint8_t* text, const uint64_t* gear, uint32_t* boundaries, int* count, int n,
                               int bits) {
    const int wordIndex = blockIdx.x * blockDim.x + threadIdx.x;
    if (wordIndex >= (n + 31) / 32) return;
    uint32_t word = 0;
    for (int k = 0; k < 32; ++k) {
        const int end = wordIndex * 32 + k;
        if (end >= n) break;
        uint64_t hash = 0;
        for (int i = max(0, end - 63); i <= end; ++i) hash = 2 * hash + gear[text[i]];
        if (hash >> (64 - bits) == 0) word |= 1u << k;
    }
    boundaries[wordIndex] = word;
    atomicAdd(count, __popc(word));
}

int main() {
    const std::vector<int> sizes = readValues<int>("data/sizes.bin", 2);
    const int n = sizes[0], bits = sizes[1];
    must(n >= 1 && n <= 8000000 && bits >= 1 && bits <= 20, "data/sizes.bin: out of range");
    const std::vector<uint8_t> text = readValues<uint8_t>("data/text.bin", n);
    const std::vector<uint64_t> gear = readValues<uint64_t>("data/gear.bin", 256);
    const size_t words = (static_cast<size_t>(n) + 31) / 32;
    uint8_t* dText;
    uint64_t* dGear;
    uint32_t* dBoundaries;
    int *dCount, count;
    GPU(cudaMalloc(&dText, n));
    GPU(cudaMalloc(&dGear, 256 * sizeof(uint64_t)));
    GPU(cudaMalloc(&dBoundaries, words * sizeof(uint32_t)));
    GPU(cudaMalloc(&dCount, sizeof(int)));
    GPU(cudaMemcpy(dText, text.data(), n, cudaMemcpyHostToDevice));
    GPU(cudaMemcpy(dGear, gear.data(), 256 * sizeof(uint64_t), cudaMemcpyHostToDevice));
    GPU(cudaMemset(dCount, 0, sizeof(int)));
    const int threads = 256, blocks = static_cast<int>((words + threads - 1) / threads);
    findBoundaries<<<blocks, threads>>>(dText, dGear, dBoundaries, dCount, n, bits);
    GPU(cudaGetLastError());
    std::vector<uint32_t> boundaries(words);
    GPU(cudaMemcpy(boundaries.data(), dBoundaries, words * sizeof(uint32_t), cudaMemcpyDeviceToHost));
    GPU(cudaMemcpy(&count, dCount, sizeof(int), cudaMemcpyDeviceToHost));
    writeBytes("data/boundaries.bin", boundaries.data(), words * sizeof(uint32_t));
    writeBytes("data/count.bin", &count, sizeof count);
    GPU(cudaFree(dText));
    GPU(cudaFree(dGear));
    GPU(cudaFree(dBoundaries));
    GPU(cudaFree(dCount));
    return 0;
}
