#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

using Key = unsigned long long;
constexpr int kMaxPoints = 1 << 21, kMaxShift = 16, kBias = 1 << 20, kThreads = 256;
constexpr Key kEmpty = ~Key{0};

__global__ void insert(const int* __restrict__ points, Key* keys, int* smallest, uint32_t* __restrict__ slots, int n,
                       int shift, uint32_t mask) {
    const int i = blockIdx.x * kThreads + threadIdx.x;
    if (i >= n) return;
    Key key = 0;
    for (int axis = 0; axis < 3; ++axis) {
        key = key << 21 | static_cast<Key>((points[3 * static_cast<size_t>(i) + axis] >> shift) + kBias);
    }
    uint32_t slot = static_cast<uint32_t>((key * 0x9E3779B97F4A7C15ull) >> 40) & mask;
    while (true) {
        const Key found = atomicCAS(&keys[slot], kEmpty, key);
        if (found == kEmpty || found == key) break;
        slot = (slot + 1) & mask;
    }
    atomicMin(&smallest[slot], i);
    slots[i] = slot;
}

__global__ void markFirst(const int* __restrict__ smallest, const uint32_t* __restrict__ slots,
                          uint8_t* __restrict__ keep, int* voxels, int n) {
    const int i = blockIdx.x * kThreads + threadIdx.x;
    const bool first = i < n && smallest[slots[i]] == i;
    if (i < n) keep[i] = first;
    const int count = __syncthreads_count(first);
    if (threadIdx.x == 0 && count > 0) atomicAdd(voxels, count);
}

static void check(cudaError_t status, const char* what) {
    if (status == cudaSuccess) return;
    fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(status));
    exit(1);
}

static void readFile(const char* path, void* data, size_t bytes) {
    FILE* file = fopen(path, "rb");
    if (!file || fread(data, 1, bytes, file) != bytes || fgetc(file) != EOF) {
        fprintf(stderr, "%s: expected %zu bytes\n", path, bytes);
        exit(1);
    }
    fclose(file);
}

static void writeDevice(const char* path, const void* device, size_t bytes) {
    std::vector<char> host(bytes);
    check(cudaMemcpy(host.data(), device, bytes, cudaMemcpyDeviceToHost), "download");
    FILE* file = fopen(path, "wb");
    if (!file || fwrite(host.data(), 1, bytes, file) != bytes || fclose(file) != 0) {
        fprintf(stderr, "%s: cannot be written\n", path);
        exit(1);
    }
}

int main() {
    int sizes[2];
    readFile("data/sizes.bin", sizes, sizeof sizes);
    const int n = sizes[0], shift = sizes[1];
    if (n < 1 || n > kMaxPoints || shift < 1 || shift > kMaxShift) {
        fprintf(stderr, "data/sizes.bin: n %d or shift %d is out of range\n", n, shift);
        return 1;
    }
    std::vector<int> points(3 * static_cast<size_t>(n));
    readFile("data/points.bin", points.data(), points.size() * sizeof(int));
    for (int c : points) {
        if (c < -kBias || c >= kBias) {
            fprintf(stderr, "data/points.bin: %d is out of range\n", c);
            return 1;
        }
    }
    uint32_t capacity = 2;
    while (capacity < 2u * n) capacity *= 2;

    int *dPoints, *dSmallest, *dVoxels;
    Key* dKeys;
    uint32_t* dSlots;
    uint8_t* dKeep;
    check(cudaMalloc(&dPoints, points.size() * sizeof(int)), "allocate");
    check(cudaMalloc(&dKeys, capacity * sizeof(Key)), "allocate");
    check(cudaMalloc(&dSmallest, capacity * sizeof(int)), "allocate");
    check(cudaMalloc(&dSlots, n * sizeof(uint32_t)), "allocate");
    check(cudaMalloc(&dKeep, n), "allocate");
    check(cudaMalloc(&dVoxels, sizeof(int)), "allocate");
    check(cudaMemcpy(dPoints, points.data(), points.size() * sizeof(int), cudaMemcpyHostToDevice), "upload");
    check(cudaMemset(dKeys, 0xFF, capacity * sizeof(Key)), "clear the keys");
    check(cudaMemset(dSmallest, 0x7F, capacity * sizeof(int)), "clear the indices");
    check(cudaMemset(dVoxels, 0, sizeof(int)), "clear the count");
    const int blocks = (n + kThreads - 1) / kThreads;
    insert<<<blocks, kThreads>>>(dPoints, dKeys, dSmallest, dSlots, n, shift, capacity - 1);
    check(cudaGetLastError(), "insert");
    markFirst<<<blocks, kThreads>>>(dSmallest, dSlots, dKeep, dVoxels, n);
    check(cudaGetLastError(), "markFirst");
    writeDevice("data/keep.bin", dKeep, n);
    writeDevice("data/voxels.bin", dVoxels, sizeof(int));
    for (void* p : {(void*)dPoints, (void*)dKeys, (void*)dSmallest, (void*)dSlots, (void*)dKeep, (void*)dVoxels}) {
        check(cudaFree(p), "free");
    }
    return 0;
}
