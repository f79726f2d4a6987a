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

constexpr int THREADS = 256;

// Ascending bitonic sort of `size` keys, a power of two.
__device__ void sortKeys(unsigned long long* keys, int size) {
    for (int run = 2; run <= size; run *= 2) {
        for (int gap = run / 2; gap > 0; gap /= 2) {
            for (int i = threadIdx.x; i < size; i += THREADS) {
                const int other = i ^ gap;
                if (other > i && (keys[i] > keys[other]) == ((i & run) == 0)) {
                    const unsigned long long key = keys[i];
                    keys[i] = keys[other];
                    keys[other] = key;
                }
            }
            __syncthreads();
        }
    }
}

__global__ void sortSuffixes(const uint8_t* __restrict__ text, int* __restrict__ suffixes, int* __restrict__ common,
                             int length, int size) {
    __shared__ unsigned long long keys[MAX_LENGTH];
    __shared__ int rank[MAX_LENGTH], places[MAX_LENGTH];
    __shared__ uint8_t bytes[MAX_LENGTH];
    const size_t start = static_cast<size_t>(blockIdx.x) * length;
    for (int i = threadIdx.x; i < length; i += THREADS) {
        bytes[i] = text[start + i];
        rank[i] = bytes[i];
    }
    __syncthreads();
    bool done = false;
    for (int h = 1; !done; h *= 2) {
        // Rank, rank h places on (0: the string ends), position.
        for (int i = threadIdx.x; i < size; i += THREADS) {
            unsigned long long key = ~0ull;
            if (i < length) {
                const unsigned long long next = i + h < length ? rank[i + h] + 1 : 0;
                key = static_cast<unsigned long long>(rank[i]) << 40 | next << 20 | static_cast<unsigned>(i);
            }
            keys[i] = key;
        }
        __syncthreads();
        sortKeys(keys, size);
        // places: 1 where a new rank begins; then its running sum, doubling the reach of each round.
        for (int k = threadIdx.x; k < length; k += THREADS) places[k] = k > 0 && keys[k] >> 20 != keys[k - 1] >> 20;
        __syncthreads();
        for (int step = 1; step < length; step *= 2) {
            int sums[MAX_LENGTH / THREADS];
            for (int k = threadIdx.x, n = 0; k < length; k += THREADS, ++n) {
                sums[n] = places[k] + (k >= step ? places[k - step] : 0);
            }
            __syncthreads();
            for (int k = threadIdx.x, n = 0; k < length; k += THREADS, ++n) places[k] = sums[n];
            __syncthreads();
        }
        for (int k = threadIdx.x; k < length; k += THREADS) rank[keys[k] & 0xfffff] = places[k];
        done = places[length - 1] == length - 1;  // all ranks differ
        __syncthreads();
    }
    for (int k = threadIdx.x; k < length; k += THREADS) {
        const int here = static_cast<int>(keys[k] & 0xfffff);
        suffixes[start + k] = here;
        common[start + k] = k > 0 ? sharedPrefix(bytes, static_cast<int>(keys[k - 1] & 0xfffff), here, length) : 0;
    }
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
    int size = 2;
    while (size < length) size *= 2;
    sortSuffixes<<<strings, THREADS>>>(text, suffixes, common, length, size);
    TRY(cudaGetLastError());
    writeInts("data/suffixes.bin", suffixes, count);
    writeInts("data/common.bin", common, count);
    TRY(cudaFree(text));
    return 0;
}
