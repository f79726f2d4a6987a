#include <cuda_runtime.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

constexpr int kThreads = 256;

__global__ void closePivots(uint32_t* rows, int vertices, int words, int group) {
    __shared__ uint32_t own[32];  // word `group` of each pivot row
    const int first = 32 * group, count = min(32, vertices - first);
    uint32_t* pivot = rows + static_cast<size_t>(first) * words;
    if (threadIdx.x < count) own[threadIdx.x] = pivot[static_cast<size_t>(threadIdx.x) * words + group];
    __syncthreads();
    for (int k = 0; k < count; ++k) {
        for (int w = threadIdx.x; w < words; w += kThreads) {
            const uint32_t through = pivot[static_cast<size_t>(k) * words + w];
            for (int i = 0; i < count; ++i) {
                if (own[i] >> k & 1) pivot[static_cast<size_t>(i) * words + w] |= through;
            }
        }
        __syncthreads();
        if (threadIdx.x < count && (own[threadIdx.x] >> k & 1)) own[threadIdx.x] |= own[k];
        __syncthreads();
    }
}

__global__ void followPivots(uint32_t* rows, int vertices, int words, int group) {
    const int row = blockIdx.x;
    if (row / 32 == group) return;
    uint32_t* mine = rows + static_cast<size_t>(row) * words;
    const uint32_t reached = mine[group];
    __syncthreads();  // all have read the word before it changes
    if (reached == 0) return;
    const uint32_t* pivot = rows + static_cast<size_t>(32) * group * words;
    for (int w = threadIdx.x; w < words; w += kThreads) {
        uint32_t value = mine[w];
        for (uint32_t left = reached; left != 0; left &= left - 1) {
            value |= pivot[static_cast<size_t>(__ffs(left) - 1) * words + w];
        }
        mine[w] = value;
    }
}

__global__ void countBits(const uint32_t* __restrict__ rows, int* __restrict__ reachable, int vertices, int words) {
    const int row = (blockIdx.x * kThreads + threadIdx.x) / 32;
    if (row >= vertices) return;
    int count = 0;
    for (int w = threadIdx.x % 32; w < words; w += 32) count += __popc(rows[static_cast<size_t>(row) * words + w]);
    for (int step = 16; step > 0; step /= 2) count += __shfl_down_sync(0xffffffffu, count, step);
    if (threadIdx.x % 32 == 0) reachable[row] = count;
}

static void fail(const char* what) {
    std::fprintf(stderr, "%s\n", what);
    std::exit(1);
}

static void check(cudaError_t status) {
    if (status != cudaSuccess) fail(cudaGetErrorString(status));
}

template <typename T>
static void readFile(const char* path, std::vector<T>& values) {
    std::FILE* file = std::fopen(path, "rb");
    const size_t count = values.size();
    if (!file || std::fread(values.data(), sizeof(T), count, file) != count || std::fgetc(file) != EOF) fail(path);
    std::fclose(file);
}

template <typename T>
static void writeFile(const char* path, const T* device, std::vector<T>& values) {
    check(cudaMemcpy(values.data(), device, values.size() * sizeof(T), cudaMemcpyDeviceToHost));
    std::FILE* file = std::fopen(path, "wb");
    if (!file || std::fwrite(values.data(), sizeof(T), values.size(), file) != values.size()) fail(path);
    if (std::fclose(file) != 0) fail(path);
}

int main() {
    std::vector<int32_t> sizes(1);
    readFile("data/sizes.bin", sizes);
    const int vertices = sizes[0];
    if (vertices < 1 || vertices > 8192) fail("data/sizes.bin: out of range");
    const int words = (vertices + 31) / 32;
    std::vector<uint32_t> matrix(static_cast<size_t>(vertices) * words);
    readFile("data/adjacency.bin", matrix);
    for (int i = 0; i < vertices && vertices % 32; ++i) {
        if (matrix[static_cast<size_t>(i + 1) * words - 1] >> vertices % 32) fail("adjacency: padding bit is set");
    }
    uint32_t* rows;
    int* dReachable;
    check(cudaMalloc(&rows, matrix.size() * sizeof(uint32_t)));
    check(cudaMalloc(&dReachable, vertices * sizeof(int)));
    check(cudaMemcpy(rows, matrix.data(), matrix.size() * sizeof(uint32_t), cudaMemcpyHostToDevice));
    for (int group = 0; group < words; ++group) {
        closePivots<<<1, kThreads>>>(rows, vertices, words, group);
        check(cudaGetLastError());
        followPivots<<<vertices, kThreads>>>(rows, vertices, words, group);
        check(cudaGetLastError());
    }
    countBits<<<(vertices + 7) / 8, kThreads>>>(rows, dReachable, vertices, words);
    check(cudaGetLastError());
    std::vector<int32_t> reachable(vertices);
    writeFile("data/closure.bin", rows, matrix);
    writeFile("data/reachable.bin", dReachable, reachable);
    check(cudaFree(rows));
    check(cudaFree(dReachable));
    return 0;
}
