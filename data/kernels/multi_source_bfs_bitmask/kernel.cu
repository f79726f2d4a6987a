#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <utility>
#include <vector>

using Mask = unsigned long long;
constexpr int kThreads = 256;
constexpr unsigned kAll = 0xffffffffu;

__global__ void advance(const int* __restrict__ rowPtr, const int* __restrict__ neighbors,
                        const Mask* __restrict__ frontier, Mask* __restrict__ next, Mask* seen, int vertices,
                        int sources, int* counters) {
    const int v = blockIdx.x * kThreads + threadIdx.x;
    const int lane = threadIdx.x % 32;
    Mask fresh = 0;
    if (v < vertices) {
        for (int e = rowPtr[v]; e < rowPtr[v + 1]; ++e) fresh |= frontier[neighbors[e]];
        fresh &= ~seen[v];
        seen[v] |= fresh;
        next[v] = fresh;
    }
    if (!__any_sync(kAll, fresh != 0)) return;
    int low = 0, high = 0;  // of searches lane and lane + 32
    for (int b = 0; b < sources; ++b) {
        const int count = __popc(__ballot_sync(kAll, static_cast<int>(fresh >> b & 1)));
        if (b == lane) low = count;
        if (b == lane + 32) high = count;
    }
    if (low) atomicAdd(&counters[lane], low);
    if (high) atomicAdd(&counters[lane + 32], high);
}

static void fail(const char* what) {
    std::fprintf(stderr, "%s\n", what);
    std::exit(1);
}

static void check(cudaError_t status) {
    if (status != cudaSuccess) fail(cudaGetErrorString(status));
}

static std::vector<int> readInts(const char* path, size_t count) {
    std::vector<int> values(count);
    std::FILE* file = std::fopen(path, "rb");
    if (!file || std::fread(values.data(), sizeof(int), count, file) != count || std::fgetc(file) != EOF) fail(path);
    std::fclose(file);
    return values;
}

template <typename T>
static T* upload(const std::vector<T>& values) {
    T* device;
    check(cudaMalloc(&device, values.size() * sizeof(T)));
    check(cudaMemcpy(device, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice));
    return device;
}

template <typename T>
static void writeFile(const char* path, const std::vector<T>& values) {
    std::FILE* file = std::fopen(path, "wb");
    if (!file || std::fwrite(values.data(), sizeof(T), values.size(), file) != values.size()) fail(path);
    if (std::fclose(file) != 0) fail(path);
}

int main() {
    const std::vector<int> sizes = readInts("data/sizes.bin", 3);
    const int vertices = sizes[0], edges = sizes[1], sources = sizes[2];
    if (vertices < 1 || vertices > 1000000 || edges < 1 || edges > 4000000) fail("data/sizes.bin: graph");
    if (sources < 1 || sources > 64) fail("data/sizes.bin: sources");
    const std::vector<int> rowPtr = readInts("data/row_ptr.bin", vertices + 1);
    const std::vector<int> neighbors = readInts("data/neighbors.bin", 2 * static_cast<size_t>(edges));
    const std::vector<int> source = readInts("data/source.bin", sources);
    if (rowPtr[0] != 0 || rowPtr[vertices] != 2 * edges) fail("data/row_ptr.bin: wrong ends");
    for (int v = 0; v < vertices; ++v) {
        if (rowPtr[v] > rowPtr[v + 1]) fail("data/row_ptr.bin: decreases");
    }
    for (int w : neighbors) {
        if (w < 0 || w >= vertices) fail("data/neighbors.bin: no such vertex");
    }
    std::vector<Mask> start(vertices, 0);
    for (int k = 0; k < sources; ++k) {
        if (source[k] < 0 || source[k] >= vertices) fail("data/source.bin: no such vertex");
        start[source[k]] |= 1ull << k;
    }

    int *dRowPtr = upload(rowPtr), *dNeighbors = upload(neighbors);
    Mask *frontier = upload(start), *next = upload(start), *seen = upload(start);
    std::vector<int> counts(64, 0), reached(sources, 1);
    std::vector<int64_t> distanceSum(sources, 0);
    int* counters = upload(counts);
    bool grown = true;
    for (int depth = 1; grown; ++depth) {
        check(cudaMemset(counters, 0, 64 * sizeof(int)));
        advance<<<(vertices + kThreads - 1) / kThreads, kThreads>>>(dRowPtr, dNeighbors, frontier, next, seen,
                                                                    vertices, sources, counters);
        check(cudaGetLastError());
        check(cudaMemcpy(counts.data(), counters, 64 * sizeof(int), cudaMemcpyDeviceToHost));
        grown = false;
        for (int k = 0; k < sources; ++k) {
            reached[k] += counts[k];
            distanceSum[k] += static_cast<int64_t>(depth) * counts[k];
            grown = grown || counts[k] > 0;
        }
        std::swap(frontier, next);
    }
    for (int* p : {dRowPtr, dNeighbors, counters}) check(cudaFree(p));
    for (Mask* p : {frontier, next, seen}) check(cudaFree(p));
    writeFile("data/reached.bin", reached);
    writeFile("data/distance_sum.bin", distanceSum);
    return 0;
}
