#include <cuda_runtime.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <vector>

constexpr int kMaxLength = 33554432;
constexpr int kThreads = 128;
constexpr int kItems = 8;
constexpr int kTile = kThreads * kItems;

// How many of the first `diagonal` outputs come from a; equal keys of a go first.
__device__ int mergePath(const int32_t* a, int lengthA, const int32_t* b, int lengthB, int diagonal) {
    int low = max(0, diagonal - lengthB), high = min(diagonal, lengthA);
    while (low < high) {
        const int middle = (low + high) / 2;
        if (a[middle] <= b[diagonal - 1 - middle]) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

__global__ void splitTiles(const int32_t* __restrict__ a, int lengthA, const int32_t* __restrict__ b, int lengthB,
                           int tiles, int* __restrict__ splits) {
    const int t = blockIdx.x * kThreads + threadIdx.x;
    if (t <= tiles) splits[t] = mergePath(a, lengthA, b, lengthB, min(t * kTile, lengthA + lengthB));
}

__global__ void mergeTiles(const int32_t* __restrict__ a, int lengthA, const int32_t* __restrict__ b, int lengthB,
                           const int* __restrict__ splits, int32_t* __restrict__ merged,
                           int32_t* __restrict__ source) {
    __shared__ int32_t keys[kTile], sources[kTile];
    const int first = blockIdx.x * kTile;
    const int length = min(kTile, lengthA + lengthB - first);
    const int firstA = splits[blockIdx.x], countA = splits[blockIdx.x + 1] - firstA;
    const int firstB = first - firstA, countB = length - countA;
    for (int i = threadIdx.x; i < length; i += kThreads) {
        keys[i] = i < countA ? a[firstA + i] : b[firstB + i - countA];
    }
    __syncthreads();

    const int begin = min(static_cast<int>(threadIdx.x) * kItems, length);
    const int32_t* keysB = keys + countA;
    int i = mergePath(keys, countA, keysB, countB, begin);
    int j = begin - i;
    int32_t key[kItems], origin[kItems];
#pragma unroll
    for (int k = 0; k < kItems; ++k) {
        if (begin + k < length) {
            const bool takeA = j >= countB || (i < countA && keys[i] <= keysB[j]);
            key[k] = takeA ? keys[i] : keysB[j];
            origin[k] = takeA ? firstA + i++ : lengthA + firstB + j++;
        }
    }
    __syncthreads();  // all have merged: the inputs may be overwritten

#pragma unroll
    for (int k = 0; k < kItems; ++k) {
        if (begin + k < length) {
            keys[begin + k] = key[k];
            sources[begin + k] = origin[k];
        }
    }
    __syncthreads();
    for (int t = threadIdx.x; t < length; t += kThreads) {
        merged[first + t] = keys[t];
        source[first + t] = sources[t];
    }
}

#define CHECK(call)                                                           \
    if (cudaError_t status = (call)) {                                        \
        fprintf(stderr, "%s: %s\n", #call, cudaGetErrorString(status));       \
        exit(1);                                                              \
    }

static std::vector<int32_t> readInts(const char* path, size_t count) {
    std::vector<int32_t> values(count);
    const std::streamsize bytes = count * sizeof(int32_t);
    std::ifstream in(path, std::ios::binary | std::ios::ate);
    if (!in || in.tellg() != bytes || !in.seekg(0).read(reinterpret_cast<char*>(values.data()), bytes)) {
        fprintf(stderr, "%s: expected %zu integers\n", path, count);
        exit(1);
    }
    return values;
}

static std::vector<int32_t> readKeys(const char* path, size_t count) {
    std::vector<int32_t> keys = readInts(path, count);
    if (!std::is_sorted(keys.begin(), keys.end())) {
        fprintf(stderr, "%s: does not ascend\n", path);
        exit(1);
    }
    return keys;
}

static void writeFromDevice(const char* path, const int32_t* device, size_t count) {
    std::vector<int32_t> values(count);
    CHECK(cudaMemcpy(values.data(), device, count * sizeof(int32_t), cudaMemcpyDeviceToHost));
    std::ofstream out(path, std::ios::binary);
    out.write(reinterpret_cast<const char*>(values.data()), count * sizeof(int32_t));
    out.close();
    if (!out) {
        fprintf(stderr, "%s: write error\n", path);
        exit(1);
    }
}

int main() {
    const std::vector<int32_t> sizes = readInts("data/sizes.bin", 2);
    const int a = sizes[0], b = sizes[1];
    if (std::min(a, b) < 1 || std::max(a, b) > kMaxLength) {
        fprintf(stderr, "data/sizes.bin: a or b out of range\n");
        return 1;
    }
    const std::vector<int32_t> keysA = readKeys("data/keys_a.bin", a);
    const std::vector<int32_t> keysB = readKeys("data/keys_b.bin", b);
    const size_t total = keysA.size() + keysB.size();
    const int tiles = (a + b + kTile - 1) / kTile;

    int32_t *dA, *dB, *dMerged, *dSource;
    int* dSplits;
    CHECK(cudaMalloc(&dA, a * sizeof(int32_t)));
    CHECK(cudaMalloc(&dB, b * sizeof(int32_t)));
    CHECK(cudaMalloc(&dMerged, total * sizeof(int32_t)));
    CHECK(cudaMalloc(&dSource, total * sizeof(int32_t)));
    CHECK(cudaMalloc(&dSplits, (tiles + 1) * sizeof(int)));
    CHECK(cudaMemcpy(dA, keysA.data(), a * sizeof(int32_t), cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(dB, keysB.data(), b * sizeof(int32_t), cudaMemcpyHostToDevice));

    splitTiles<<<tiles / kThreads + 1, kThreads>>>(dA, a, dB, b, tiles, dSplits);
    CHECK(cudaGetLastError());
    mergeTiles<<<tiles, kThreads>>>(dA, a, dB, b, dSplits, dMerged, dSource);
    CHECK(cudaGetLastError());
    writeFromDevice("data/merged.bin", dMerged, total);
    writeFromDevice("data/source.bin", dSource, total);
    for (int32_t* pointer : {dA, dB, dMerged, dSource, dSplits}) CHECK(cudaFree(pointer));
    return 0;
}
