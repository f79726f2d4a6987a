#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

constexpr int kThreads = 128;
constexpr int kWarps = kThreads / 32;

__device__ uint32_t hashOf(uint32_t seed, uint32_t walker, uint32_t step) {
    uint32_t x = seed ^ (walker * 0x9E3779B1u) ^ (step * 0x85EBCA77u);
    x ^= x >> 16;
    x *= 0x7FEB352Du;
    x ^= x >> 15;
    x *= 0x846CA68Bu;
    return x ^ (x >> 16);
}

__global__ void walk(const int* __restrict__ rowPtr, const int* __restrict__ neighbors, const int* __restrict__ start,
                     uint32_t seed, int* __restrict__ path, int walkers, int steps) {
    __shared__ int tiles[kWarps][32][33];
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const int firstWalker = (blockIdx.x * kWarps + warp) * 32;
    if (firstWalker >= walkers) return;
    int(*tile)[33] = tiles[warp];
    const int w = firstWalker + lane, entries = steps + 1;
    int v = w < walkers ? start[w] : -1;

    for (int base = 0; base < entries; base += 32) {
        for (int k = 0; k < 32; ++k) {
            const int t = base + k;  // v is entry t of the path
            tile[lane][k] = v;
            if (v >= 0 && t < steps) {
                const int begin = rowPtr[v], degree = rowPtr[v + 1] - begin;
                v = degree > 0 ? neighbors[begin + __umulhi(hashOf(seed, w, t), degree)] : -1;
            }
        }
        __syncwarp();
        for (int r = 0; r < 32 && firstWalker + r < walkers; ++r) {
            if (base + lane < entries) {
                path[static_cast<size_t>(firstWalker + r) * entries + base + lane] = tile[r][lane];
            }
        }
        __syncwarp();
    }
}

static void fail(const char* what) {
    fprintf(stderr, "%s\n", what);
    exit(1);
}

static void check(cudaError_t status) {
    if (status != cudaSuccess) fail(cudaGetErrorString(status));
}

static std::vector<int> readInts(const char* path, size_t count) {
    std::vector<int> values(count);
    FILE* file = fopen(path, "rb");
    if (!file || fread(values.data(), sizeof(int), count, file) != count || fgetc(file) != EOF) fail(path);
    fclose(file);
    return values;
}

static int* upload(const std::vector<int>& values) {
    int* device;
    check(cudaMalloc(&device, values.size() * sizeof(int)));
    check(cudaMemcpy(device, values.data(), values.size() * sizeof(int), cudaMemcpyHostToDevice));
    return device;
}

static void checkVertices(const char* path, const std::vector<int>& values, int vertices) {
    for (int v : values) {
        if (v < 0 || v >= vertices) fail(path);
    }
}

int main() {
    const std::vector<int> sizes = readInts("data/sizes.bin", 4);
    const int vertices = sizes[0], edges = sizes[1], walkers = sizes[2], steps = sizes[3];
    if (vertices < 1 || vertices > 1000000 || edges < 1 || edges > 4000000) fail("data/sizes.bin: graph");
    if (walkers < 1 || walkers > 500000 || steps < 1 || steps > 1000) fail("data/sizes.bin: walks");
    const std::vector<int> rowPtr = readInts("data/row_ptr.bin", vertices + 1);
    const std::vector<int> neighbors = readInts("data/neighbors.bin", edges);
    const std::vector<int> start = readInts("data/start.bin", walkers);
    const uint32_t seed = static_cast<uint32_t>(readInts("data/seed.bin", 1)[0]);
    if (rowPtr[0] != 0 || rowPtr[vertices] != edges) fail("data/row_ptr.bin: wrong ends");
    for (int v = 0; v < vertices; ++v) {
        if (rowPtr[v] > rowPtr[v + 1]) fail("data/row_ptr.bin: decreases");
    }
    checkVertices("data/neighbors.bin", neighbors, vertices);
    checkVertices("data/start.bin", start, vertices);

    int *dRowPtr = upload(rowPtr), *dNeighbors = upload(neighbors), *dStart = upload(start), *dPath;
    std::vector<int> path(static_cast<size_t>(walkers) * (steps + 1));
    check(cudaMalloc(&dPath, path.size() * sizeof(int)));
    walk<<<(walkers + kThreads - 1) / kThreads, kThreads>>>(dRowPtr, dNeighbors, dStart, seed, dPath, walkers, steps);
    check(cudaGetLastError());
    check(cudaMemcpy(path.data(), dPath, path.size() * sizeof(int), cudaMemcpyDeviceToHost));
    check(cudaFree(dRowPtr));
    check(cudaFree(dNeighbors));
    check(cudaFree(dStart));
    check(cudaFree(dPath));
    FILE* out = fopen("data/path.bin", "wb");
    if (!out || fwrite(path.data(), sizeof(int), path.size(), out) != path.size() || fclose(out)) fail("path.bin");
    return 0;
}
