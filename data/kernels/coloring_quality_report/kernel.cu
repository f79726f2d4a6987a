#include <cuda_runtime.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>

constexpr int kThreads = 256;

__global__ void findConflicts(const int2* __restrict__ edges, const int* __restrict__ color, int* conflicts,
                              int* summary, int count) {
    const int e = blockIdx.x * kThreads + threadIdx.x;
    bool conflict = false;
    if (e < count) {
        const int2 ends = edges[e];
        conflict = color[ends.x] == color[ends.y];
        if (conflict) {
            atomicAdd(&conflicts[ends.x], 1);
            if (ends.x != ends.y) atomicAdd(&conflicts[ends.y], 1);
        }
    }
    const unsigned found = __ballot_sync(0xffffffffu, conflict);
    if (threadIdx.x % 32 == 0 && found) atomicAdd(&summary[0], __popc(found));
}

__global__ void countClasses(const int* __restrict__ color, int* classSize, int vertices, int colors) {
    extern __shared__ int histogram[];
    for (int c = threadIdx.x; c < colors; c += kThreads) histogram[c] = 0;
    __syncthreads();
    for (int v = blockIdx.x * kThreads + threadIdx.x; v < vertices; v += gridDim.x * kThreads) {
        atomicAdd(&histogram[color[v]], 1);
    }
    __syncthreads();
    for (int c = threadIdx.x; c < colors; c += kThreads) {
        if (histogram[c]) atomicAdd(&classSize[c], histogram[c]);
    }
}

__global__ void summarize(const int* __restrict__ classSize, int* summary, int colors) {
    __shared__ int used, largest;
    if (threadIdx.x == 0) used = largest = 0;
    __syncthreads();
    int mine = 0, best = 0;
    for (int c = threadIdx.x; c < colors; c += kThreads) {
        mine += classSize[c] > 0;
        best = max(best, classSize[c]);
    }
    atomicAdd(&used, mine);
    atomicMax(&largest, best);
    __syncthreads();
    if (threadIdx.x == 0) {
        summary[1] = used;
        summary[2] = largest;
    }
}

#define CUDA(call)                                                                             \
    do {                                                                                       \
        const cudaError_t code = (call);                                                       \
        if (code != cudaSuccess) {                                                             \
            fprintf(stderr, "%s:%d %s\n", __FILE__, __LINE__, cudaGetErrorString(code));       \
            exit(1);                                                                           \
        }                                                                                      \
    } while (0)

static void fail(const char* message) {
    fprintf(stderr, "%s\n", message);
    exit(1);
}

static std::vector<int> readInts(const char* path, size_t count) {
    std::vector<int> values(count + 1);  // one more, to notice a file that is too long
    FILE* file = fopen(path, "rb");
    if (!file || fread(values.data(), 1, (count + 1) * sizeof(int), file) != count * sizeof(int)) fail(path);
    fclose(file);
    values.pop_back();
    return values;
}

static void writeInts(const char* path, const int* device, size_t count) {
    std::vector<int> values(count);
    CUDA(cudaMemcpy(values.data(), device, count * sizeof(int), cudaMemcpyDeviceToHost));
    FILE* file = fopen(path, "wb");
    if (!file || fwrite(values.data(), sizeof(int), count, file) != count || fclose(file)) fail(path);
}

static int* deviceInts(size_t count) {
    int* pointer = nullptr;
    CUDA(cudaMalloc(&pointer, count * sizeof(int)));
    CUDA(cudaMemset(pointer, 0, count * sizeof(int)));
    return pointer;
}

int main() {
    const std::vector<int> sizes = readInts("data/sizes.bin", 3);
    const int vertices = sizes[0], count = sizes[1], colors = sizes[2];
    if (vertices < 1 || vertices > 2000000 || count < 1 || count > 2000000 || colors < 1 || colors > 4096) {
        fail("data/sizes.bin: out of range");
    }
    const std::vector<int> edges = readInts("data/edges.bin", 2 * size_t(count));
    const std::vector<int> color = readInts("data/color.bin", vertices);
    for (int v : edges) {
        if (v < 0 || v >= vertices) fail("data/edges.bin: no such vertex");
    }
    for (int c : color) {
        if (c < 0 || c >= colors) fail("data/color.bin: no such colour");
    }
    int *dEdges = deviceInts(edges.size()), *dColor = deviceInts(vertices), *conflicts = deviceInts(vertices);
    int *classSize = deviceInts(colors), *summary = deviceInts(3);
    CUDA(cudaMemcpy(dEdges, edges.data(), edges.size() * sizeof(int), cudaMemcpyHostToDevice));
    CUDA(cudaMemcpy(dColor, color.data(), vertices * sizeof(int), cudaMemcpyHostToDevice));

    findConflicts<<<(count + kThreads - 1) / kThreads, kThreads>>>(reinterpret_cast<const int2*>(dEdges), dColor,
                                                                   conflicts, summary, count);
    CUDA(cudaGetLastError());
    const int blocks = std::min(64, (vertices + kThreads - 1) / kThreads);
    countClasses<<<blocks, kThreads, colors * sizeof(int)>>>(dColor, classSize, vertices, colors);
    CUDA(cudaGetLastError());
    summarize<<<1, kThreads>>>(classSize, summary, colors);
    CUDA(cudaGetLastError());
    writeInts("data/conflicts.bin", conflicts, vertices);
    writeInts("data/class_size.bin", classSize, colors);
    writeInts("data/summary.bin", summary, 3);
    for (int* p : {dEdges, dColor, conflicts, classSize, summary}) CUDA(cudaFree(p));
    return 0;
}
