#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

constexpr int kThreads = 256;

__global__ void countIncoming(const int* __restrict__ heads, int* waiting, int edges) {
    const int e = blockIdx.x * kThreads + threadIdx.x;
    if (e < edges) atomicAdd(&waiting[heads[e]], 1);
}

__global__ void findSources(const int* __restrict__ waiting, int* level, int* queue, int* end, int vertices) {
    const int v = blockIdx.x * kThreads + threadIdx.x;
    if (v >= vertices || waiting[v] != 0) return;
    level[v] = 0;
    queue[atomicAdd(end, 1)] = v;
}

__global__ void release(const int* __restrict__ rowPtr, const int* __restrict__ heads, int* waiting, int* level,
                        int* queue, int* end, int begin, int count, int round) {
    const int i = blockIdx.x * kThreads + threadIdx.x;
    if (i >= count) return;
    const int v = queue[begin + i];
    for (int e = rowPtr[v]; e < rowPtr[v + 1]; ++e) {
        const int w = heads[e];
        if (atomicSub(&waiting[w], 1) == 1) {
            level[w] = round;
            queue[atomicAdd(end, 1)] = w;
        }
    }
}

static void die(const char* text) {
    std::fprintf(stderr, "%s\n", text);
    std::exit(1);
}

static void check(cudaError_t status) {
    if (status != cudaSuccess) die(cudaGetErrorString(status));
}

static std::vector<int> readInts(const char* path, size_t count) {
    std::vector<int> values(count);
    std::FILE* file = std::fopen(path, "rb");
    if (!file || std::fread(values.data(), sizeof(int), count, file) != count || std::fgetc(file) != EOF) die(path);
    std::fclose(file);
    return values;
}

static int* zeros(size_t count) {
    int* device;
    check(cudaMalloc(&device, count * sizeof(int)));
    check(cudaMemset(device, 0, count * sizeof(int)));
    return device;
}

static int valueOf(const int* device) {
    int value;
    check(cudaMemcpy(&value, device, sizeof(int), cudaMemcpyDeviceToHost));
    return value;
}

static int blocksFor(int threads) { return (threads + kThreads - 1) / kThreads; }

int main() {
    const std::vector<int> sizes = readInts("data/sizes.bin", 2);
    const int vertices = sizes[0], edges = sizes[1];
    if (vertices < 1 || vertices > 2000000 || edges < 1 || edges > 8000000) die("data/sizes.bin: out of range");
    const std::vector<int> rowPtr = readInts("data/row_ptr.bin", vertices + 1);
    const std::vector<int> heads = readInts("data/heads.bin", edges);
    if (rowPtr[0] != 0 || rowPtr[vertices] != edges) die("data/row_ptr.bin: wrong ends");
    for (int v = 0; v < vertices; ++v) {
        if (rowPtr[v] > rowPtr[v + 1]) die("data/row_ptr.bin: decreases");
    }
    for (int w : heads) {
        if (w < 0 || w >= vertices) die("data/heads.bin: no such vertex");
    }

    int *dRowPtr = zeros(vertices + 1), *dHeads = zeros(edges), *waiting = zeros(vertices);
    int *level = zeros(vertices), *queue = zeros(vertices), *end = zeros(1);
    check(cudaMemcpy(dRowPtr, rowPtr.data(), rowPtr.size() * sizeof(int), cudaMemcpyHostToDevice));
    check(cudaMemcpy(dHeads, heads.data(), edges * sizeof(int), cudaMemcpyHostToDevice));
    countIncoming<<<blocksFor(edges), kThreads>>>(dHeads, waiting, edges);
    check(cudaGetLastError());
    findSources<<<blocksFor(vertices), kThreads>>>(waiting, level, queue, end, vertices);
    check(cudaGetLastError());
    int begin = 0, queued = valueOf(end);
    for (int round = 1; begin < queued; ++round) {
        release<<<blocksFor(queued - begin), kThreads>>>(dRowPtr, dHeads, waiting, level, queue, end, begin,
                                                         queued - begin, round);
        check(cudaGetLastError());
        begin = queued;
        queued = valueOf(end);
    }
    if (queued != vertices) die("the graph has a cycle");

    std::vector<int> result(vertices);
    check(cudaMemcpy(result.data(), level, vertices * sizeof(int), cudaMemcpyDeviceToHost));
    for (int* p : {dRowPtr, dHeads, waiting, level, queue, end}) check(cudaFree(p));
    std::FILE* out = std::fopen("data/level.bin", "wb");
    if (!out || std::fwrite(result.data(), sizeof(int), result.size(), out) != result.size()) die("data/level.bin");
    if (std::fclose(out) != 0) die("data/level.bin: cannot be closed");
    return 0;
}
