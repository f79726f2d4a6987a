#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

using Key = unsigned long long;
constexpr int kThreads = 128;
constexpr unsigned kAll = 0xffffffffu;
constexpr Key kEmpty = ~0ull;

__device__ uint32_t hashOf(uint32_t e) {
    uint32_t x = e * 0x9E3779B9u;
    x ^= x >> 16;
    x *= 0x21F0AAADu;
    x ^= x >> 15;
    x *= 0x735A2D97u;
    return x ^ (x >> 15);
}

__global__ void sampleNeighbors(const int* __restrict__ rowPtr, const int* __restrict__ neighbors,
                                const int* __restrict__ seed, int* __restrict__ sample, int* __restrict__ taken,
                                int seeds, int fanout) {
    const int s = (blockIdx.x * kThreads + threadIdx.x) / 32;
    const int lane = threadIdx.x % 32;
    if (s >= seeds) return;
    const int begin = rowPtr[seed[s]], end = rowPtr[seed[s] + 1];
    Key best = kEmpty;  // ascending over the lanes
    for (int base = begin; base < end; base += 32) {
        const int e = base + lane;
        const Key mine = e < end ? static_cast<Key>(hashOf(e)) << 32 | static_cast<unsigned>(e) : kEmpty;
        unsigned open = __ballot_sync(kAll, mine < __shfl_sync(kAll, best, 31));
        while (open) {
            const Key candidate = __shfl_sync(kAll, mine, __ffs(open) - 1);
            open &= open - 1;
            const unsigned larger = __ballot_sync(kAll, best > candidate);
            const Key left = __shfl_up_sync(kAll, best, 1);
            if (larger) {
                const int place = __ffs(larger) - 1;
                if (lane > place) best = left;
                if (lane == place) best = candidate;
            }
        }
    }
    if (lane < fanout) {
        sample[static_cast<size_t>(s) * fanout + lane] =
            best == kEmpty ? -1 : neighbors[static_cast<unsigned>(best)];
    }
    if (lane == 0) taken[s] = min(fanout, end - begin);
}

static void die(const char* what) {
    fprintf(stderr, "%s\n", what);
    exit(1);
}

static void check(cudaError_t status) {
    if (status != cudaSuccess) die(cudaGetErrorString(status));
}

static std::vector<int> readInts(const char* path, size_t count) {
    std::vector<int> values(count);
    FILE* file = fopen(path, "rb");
    if (!file || fread(values.data(), sizeof(int), count, file) != count || fgetc(file) != EOF) die(path);
    fclose(file);
    return values;
}

static int* upload(const std::vector<int>& values) {
    int* device;
    check(cudaMalloc(&device, values.size() * sizeof(int)));
    check(cudaMemcpy(device, values.data(), values.size() * sizeof(int), cudaMemcpyHostToDevice));
    return device;
}

static void writeInts(const char* path, const int* device, size_t count) {
    std::vector<int> values(count);
    check(cudaMemcpy(values.data(), device, count * sizeof(int), cudaMemcpyDeviceToHost));
    FILE* file = fopen(path, "wb");
    if (!file || fwrite(values.data(), sizeof(int), count, file) != count || fclose(file) != 0) die(path);
}

static void checkVertices(const char* path, const std::vector<int>& values, int vertices) {
    for (int v : values) {
        if (v < 0 || v >= vertices) die(path);
    }
}

int main() {
    const std::vector<int> sizes = readInts("data/sizes.bin", 4);
    const int vertices = sizes[0], edges = sizes[1], seeds = sizes[2], fanout = sizes[3];
    if (vertices < 1 || vertices > 1000000 || edges < 1 || edges > 4000000) die("data/sizes.bin: graph");
    if (seeds < 1 || seeds > 500000 || fanout < 1 || fanout > 32) die("data/sizes.bin: sample");
    const std::vector<int> rowPtr = readInts("data/row_ptr.bin", vertices + 1);
    const std::vector<int> neighbors = readInts("data/neighbors.bin", edges);
    const std::vector<int> seed = readInts("data/seed.bin", seeds);
    if (rowPtr[0] != 0 || rowPtr[vertices] != edges) die("data/row_ptr.bin: wrong ends");
    for (int v = 0; v < vertices; ++v) {
        if (rowPtr[v] > rowPtr[v + 1]) die("data/row_ptr.bin: decreases");
    }
    checkVertices("data/neighbors.bin", neighbors, vertices);
    checkVertices("data/seed.bin", seed, vertices);

    const size_t entries = static_cast<size_t>(seeds) * fanout;
    int *dRowPtr = upload(rowPtr), *dNeighbors = upload(neighbors), *dSeed = upload(seed), *sample, *taken;
    check(cudaMalloc(&sample, entries * sizeof(int)));
    check(cudaMalloc(&taken, seeds * sizeof(int)));
    const int perBlock = kThreads / 32;
    sampleNeighbors<<<(seeds + perBlock - 1) / perBlock, kThreads>>>(dRowPtr, dNeighbors, dSeed, sample, taken, seeds,
                                                                     fanout);
    check(cudaGetLastError());
    writeInts("data/sample.bin", sample, entries);
    writeInts("data/taken.bin", taken, seeds);
    for (int* p : {dRowPtr, dNeighbors, dSeed, sample, taken}) check(cudaFree(p));
    return 0;
}
