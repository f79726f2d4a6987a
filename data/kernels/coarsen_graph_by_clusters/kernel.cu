#include <cuda_runtime.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

using Total = unsigned long long;
constexpr int kThreads = 256;
constexpr int kMaxClusters = 128;
constexpr int kStridesToFlush = 16;  // 4096 edges of at most 1000000 fit into 32 bits

__global__ void countPairs(const int2* __restrict__ edges, const int* __restrict__ weights,
                           const int* __restrict__ cluster, Total* between, int count, int clusters) {
    extern __shared__ unsigned counters[];
    const int cells = clusters * clusters;
    for (int at = threadIdx.x; at < cells; at += kThreads) counters[at] = 0;
    __syncthreads();
    int strides = 0;
    for (int base = blockIdx.x * kThreads; base < count; base += gridDim.x * kThreads) {
        const int e = base + threadIdx.x;
        if (e < count) {
            const int p = cluster[edges[e].x], q = cluster[edges[e].y];
            atomicAdd(&counters[min(p, q) * clusters + max(p, q)], static_cast<unsigned>(weights[e]));
        }
        const bool last = base + gridDim.x * kThreads >= count;
        if (++strides % kStridesToFlush != 0 && !last) continue;
        __syncthreads();
        for (int at = threadIdx.x; at < cells; at += kThreads) {
            if (counters[at]) atomicAdd(&between[at], static_cast<Total>(counters[at]));
            counters[at] = 0;
        }
        __syncthreads();
    }
}

__global__ void mirror(Total* between, Total* cut, int clusters) {
    const int q = blockIdx.x * blockDim.x + threadIdx.x, p = blockIdx.y;
    if (q >= clusters || p >= q) return;
    const Total value = between[p * clusters + q];
    between[q * clusters + p] = value;
    if (value) atomicAdd(cut, value);
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

static int* upload(const std::vector<int>& values) {
    int* device;
    check(cudaMalloc(&device, values.size() * sizeof(int)));
    check(cudaMemcpy(device, values.data(), values.size() * sizeof(int), cudaMemcpyHostToDevice));
    return device;
}

static void writeTotals(const char* path, const Total* device, size_t count) {
    std::vector<Total> values(count);
    check(cudaMemcpy(values.data(), device, count * sizeof(Total), cudaMemcpyDeviceToHost));
    std::FILE* file = std::fopen(path, "wb");
    if (!file || std::fwrite(values.data(), sizeof(Total), count, file) != count || std::fclose(file)) fail(path);
}

int main() {
    const std::vector<int> sizes = readInts("data/sizes.bin", 3);
    const int vertices = sizes[0], count = sizes[1], clusters = sizes[2];
    if (vertices < 1 || vertices > 1000000 || count < 1 || count > 4000000) fail("data/sizes.bin: graph");
    if (clusters < 1 || clusters > kMaxClusters) fail("data/sizes.bin: clusters");
    const std::vector<int> ends = readInts("data/edges.bin", 2 * static_cast<size_t>(count));
    const std::vector<int> weights = readInts("data/weights.bin", count);
    const std::vector<int> cluster = readInts("data/cluster.bin", vertices);
    for (int v : ends) {
        if (v < 0 || v >= vertices) fail("data/edges.bin: no such vertex");
    }
    for (int w : weights) {
        if (w < 0 || w > 1000000) fail("data/weights.bin: out of range");
    }
    for (int c : cluster) {
        if (c < 0 || c >= clusters) fail("data/cluster.bin: no such cluster");
    }
    int *dEnds = upload(ends), *dWeights = upload(weights), *dCluster = upload(cluster);
    const size_t cells = static_cast<size_t>(clusters) * clusters;
    Total *between, *cut;
    check(cudaMalloc(&between, cells * sizeof(Total)));
    check(cudaMalloc(&cut, sizeof(Total)));
    check(cudaMemset(between, 0, cells * sizeof(Total)));
    check(cudaMemset(cut, 0, sizeof(Total)));

    const int shared = static_cast<int>(cells * sizeof(unsigned));
    check(cudaFuncSetAttribute(countPairs, cudaFuncAttributeMaxDynamicSharedMemorySize, shared));
    const int blocks = std::min(128, (count + kThreads - 1) / kThreads);
    countPairs<<<blocks, kThreads, shared>>>(reinterpret_cast<const int2*>(dEnds), dWeights, dCluster, between, count,
                                             clusters);
    check(cudaGetLastError());
    mirror<<<dim3((clusters + 63) / 64, clusters), 64>>>(between, cut, clusters);
    check(cudaGetLastError());
    writeTotals("data/weight_between.bin", between, cells);
    writeTotals("data/cut.bin", cut, 1);
    for (int* p : {dEnds, dWeights, dCluster}) check(cudaFree(p));
    check(cudaFree(between));
    check(cudaFree(cut));
    return 0;
}
