#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

constexpr int MAX_LENGTH = 1024;

#define TRY(call)                                                                    \
    do {                                                                             \
        cudaError_t status = (call);                                                 \
        if (status != cudaSuccess) {                                                 \
            fprintf(stderr, "%d: %s\n", __LINE__, cudaGetErrorString(status));       \
            exit(1);                                                                 \
        }                                                                            \
    } while (0)

static void readFile(const char* path, void* target, size_t bytes) {
    FILE* file = fopen(path, "rb");
    if (!file || fread(target, 1, bytes, file) != bytes || fgetc(file) != EOF) {
        fprintf(stderr, "%s: expected %zu bytes\n", path, bytes);
        exit(1);
    }
    fclose(file);
}

static void writeInts(const char* path, int* device, size_t count) {
    std::vector<int> values(count);
    TRY(cudaMemcpy(values.data(), device, count * sizeof(int), cudaMemcpyDeviceToHost));
    TRY(cudaFree(device));
    FILE* file = fopen(path, "wb");
    if (!file || fwrite(values.data(), sizeof(int), count, file) != count || fclose(file) != 0) {
        fprintf(stderr, "%s: cannot be written\n", path);
        exit(1);
    }
}

__device__ int sharedPrefix(const uint8_t* text, int a, int b, int length) {
    int shared = 0;
    while (max(a, b) + shared < length && text[a + shared] == text[b + shared]) ++shared;
    return shared;
}

// A thread counts the suffixes that are smaller than its own: that number is its place.
__global__ void placeSuffixes(const uint8_t* text, int* suffixes, int length, long long total) {
    const long long at = blockIdx.x * static_cast<long long>(blockDim.x) + threadIdx.x;
    if (at >= total) return;
    const long long start = at / length * length;
    const int mine = static_cast<int>(at - start);
    int smaller = 0;
    for (int other = 0; other < length; ++other) {
        if (other == mine) continue;
        const int shared = sharedPrefix(text + start, other, mine, length);
        const bool ends = other + shared == length;
        smaller += ends || (mine + shared < length && text[start + other + shared] < text[start + mine + shared]);
    }
    suffixes[start + smaller] = mine;
}

__global__ void compareNeighbors(const uint8_t* text, const int* suffixes, int* common, int length, long long total) {
    const long long at = blockIdx.x * static_cast<long long>(blockDim.x) + threadIdx.x;
    if (at >= total) return;
    const uint8_t* row = text + at / length * length;
    common[at] = at % length == 0 ? 0 : sharedPrefix(row, suffixes[at - 1], suffixes[at], length);
}

int main() {
    int sizes[2];
    readFile("data/sizes.bin", sizes, sizeof sizes);
    const int strings = sizes[0], length = sizes[1];
    if (strings < 1 || strings > 65535 || length < 2 || length > MAX_LENGTH) {
        fprintf(stderr, "data/sizes.bin: out of range\n");
        return 1;
    }
    const size_t count = static_cast<size_t>(strings) * length;
    std::vector<uint8_t> host(count);
    readFile("data/text.bin", host.data(), count);
    uint8_t* text;
    int *suffixes, *common;
    TRY(cudaMalloc(&text, count));
    TRY(cudaMalloc(&suffixes, count * sizeof(int)));
    TRY(cudaMalloc(&common, count * sizeof(int)));
    TRY(cudaMemcpy(text, host.data(), count, cudaMemcpyHostToDevice));
    const long long total = static_cast<long long>(count);
    const unsigned blocks = static_cast<unsigned>((total + 127) / 128);
    placeSuffixes<<<blocks, 128>>>(text, suffixes, length, total);
    compareNeighbors<<<blocks, 128>>>(text, suffixes, common, length, total);
    TRY(cudaGetLastError());
    writeInts("data/suffixes.bin", suffixes, count);
    writeInts("data/common.bin", common, count);
    TRY(cudaFree(text));
    return 0;
}
