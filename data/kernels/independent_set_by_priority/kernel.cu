#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <unordered_set>
#include <vector>

constexpr int kThreads = 256;
enum : uint8_t { kExcluded = 0, kMember = 1, kUndecided = 2 };

__global__ void elect(const int* __restrict__ rowPtr, const int* __restrict__ neighbors,
                      const int* __restrict__ priority, volatile uint8_t* state, int vertices) {
    const int v = blockIdx.x * kThreads + threadIdx.x;
    if (v >= vertices || state[v] != kUndecided) return;
    for (int e = rowPtr[v]; e < rowPtr[v + 1]; ++e) {
        const int w = neighbors[e];
        if (state[w] != kExcluded && priority[w] > priority[v]) return;
    }
    state[v] = kMember;
}

__global__ void exclude(const int* __restrict__ rowPtr, const int* __restrict__ neighbors, volatile uint8_t* state,
                        int vertices, int* open) {
    const int v = blockIdx.x * kThreads + threadIdx.x;
    bool undecided = v < vertices && state[v] == kUndecided;
    if (undecided) {
        for (int e = rowPtr[v]; e < rowPtr[v + 1]; ++e) {
            if (state[neighbors[e]] == kMember) {
                state[v] = kExcluded;
                undecided = false;
                break;
            }
        }
    }
    if (__syncthreads_or(undecided) && threadIdx.x == 0) *open = 1;
}

#define CUDA_CHECK(call)                                                                      \
    do {                                                                                      \
        const cudaError_t status_ = (call);                                                   \
        if (status_ != cudaSuccess) {                                                         \
            std::fprintf(stderr, "%s (line %d)\n", cudaGetErrorString(status_), __LINE__);    \
            std::exit(1);                                                                     \
        }                                                                                     \
    } while (0)

static void require(bool good, const char* what) {
    if (good) return;
    std::fprintf(stderr, "%s\n", what);
    std::exit(1);
}

static std::vector<int> readInts(const char* path, size_t count) {
    std::vector<int> values(count);
    std::FILE* file = std::fopen(path, "rb");
    require(file != nullptr, path);
    require(std::fread(values.data(), sizeof(int), count, file) == count && std::fgetc(file) == EOF, path);
    std::fclose(file);
    return values;
}

static int* toDevice(const std::vector<int>& values) {
    int* device;
    CUDA_CHECK(cudaMalloc(&device, values.size() * sizeof(int)));
    CUDA_CHECK(cudaMemcpy(device, values.data(), values.size() * sizeof(int), cudaMemcpyHostToDevice));
    return device;
}

int main() {
    const std::vector<int> sizes = readInts("data/sizes.bin", 2);
    const int vertices = sizes[0], edges = sizes[1];
    require(vertices >= 1 && vertices <= 1000000 && edges >= 1 && edges <= 2000000, "data/sizes.bin: out of range");
    const std::vector<int> rowPtr = readInts("data/row_ptr.bin", vertices + 1);
    const std::vector<int> neighbors = readInts("data/neighbors.bin", 2 * static_cast<size_t>(edges));
    const std::vector<int> priority = readInts("data/priority.bin", vertices);
    require(rowPtr[0] == 0 && rowPtr[vertices] == 2 * edges, "data/row_ptr.bin: wrong ends");
    for (int v = 0; v < vertices; ++v) {
        require(rowPtr[v] <= rowPtr[v + 1], "data/row_ptr.bin: decreases");
        for (int e = rowPtr[v]; e < rowPtr[v + 1]; ++e) {
            require(neighbors[e] >= 0 && neighbors[e] < vertices && neighbors[e] != v, "data/neighbors.bin");
        }
    }
    const std::unordered_set<int> distinct(priority.begin(), priority.end());
    require(distinct.size() == priority.size(), "data/priority.bin: a priority occurs twice");

    int *dRowPtr = toDevice(rowPtr), *dNeighbors = toDevice(neighbors), *dPriority = toDevice(priority);
    int *dOpen, open = 1;
    uint8_t* state;
    CUDA_CHECK(cudaMalloc(&dOpen, sizeof(int)));
    CUDA_CHECK(cudaMalloc(&state, vertices));
    CUDA_CHECK(cudaMemset(state, kUndecided, vertices));
    const int blocks = (vertices + kThreads - 1) / kThreads;
    while (open) {
        CUDA_CHECK(cudaMemset(dOpen, 0, sizeof(int)));
        elect<<<blocks, kThreads>>>(dRowPtr, dNeighbors, dPriority, state, vertices);
        CUDA_CHECK(cudaGetLastError());
        exclude<<<blocks, kThreads>>>(dRowPtr, dNeighbors, state, vertices, dOpen);
        CUDA_CHECK(cudaGetLastError());
        CUDA_CHECK(cudaMemcpy(&open, dOpen, sizeof(int), cudaMemcpyDeviceToHost));
    }
    std::vector<uint8_t> member(vertices);
    CUDA_CHECK(cudaMemcpy(member.data(), state, vertices, cudaMemcpyDeviceToHost));
    for (int* p : {dRowPtr, dNeighbors, dPriority, dOpen}) CUDA_CHECK(cudaFree(p));
    CUDA_CHECK(cudaFree(state));

    std::FILE* out = std::fopen("data/member.bin", "wb");
    require(out && std::fwrite(member.data(), 1, member.size(), out) == member.size(), "data/member.bin");
    require(std::fclose(out) == 0, "data/member.bin");
    return 0;
}
