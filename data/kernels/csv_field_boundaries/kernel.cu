#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

constexpr int THREADS = 256, WARPS = THREADS / 32;
constexpr unsigned ALL = 0xffffffffu;

// Exclusive sum over the block in the order of threadIdx.x; *total gets the sum. One value a thread.
__device__ int blockExclusive(int value, int* total) {
    __shared__ int sums[WARPS];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    int sum = value;
    for (int step = 1; step < 32; step *= 2) {
        const int other = __shfl_up_sync(ALL, sum, step);
        if (lane >= step) sum += other;
    }
    if (lane == 31) sums[warp] = sum;
    __syncthreads();
    int before = 0;
    *total = 0;
    for (int w = 0; w < WARPS; ++w) {
        if (w < warp) before += sums[w];
        *total += sums[w];
    }
    __syncthreads();
    return before + sum - value;
}

__global__ void countQuotes(const uint8_t* text, int* quotes, int n) {
    const int i = blockIdx.x * THREADS + threadIdx.x;
    const int count = __syncthreads_count(i < n && text[i] == '"');
    if (threadIdx.x == 0) quotes[blockIdx.x] = count;
}

// One block: replaces each number by the sum of those before it; *sum gets the sum of all.
__global__ void scanBlocks(int* numbers, int count, int* sum) {
    int carried = 0;
    for (int base = 0; base < count; base += THREADS) {
        const int i = base + threadIdx.x;
        int total;
        const int before = blockExclusive(i < count ? numbers[i] : 0, &total);
        if (i < count) numbers[i] = carried + before;
        carried += total;
    }
    if (threadIdx.x == 0) *sum = carried;
}

__global__ void classify(const uint8_t* text, const int* quotes, uint8_t* kind, int* fields, int n) {
    const int i = blockIdx.x * THREADS + threadIdx.x;
    const uint8_t c = i < n ? text[i] : 0;
    int total;
    const int before = quotes[blockIdx.x] + blockExclusive(c == '"', &total);
    const bool outside = before % 2 == 0;
    const uint8_t result = c == '"' ? 3 : !outside ? 0 : c == ',' ? 1 : c == '\n' ? 2 : 0;
    if (i < n) kind[i] = result;
    const int count = __syncthreads_count(result == 1 || result == 2);
    if (threadIdx.x == 0) fields[blockIdx.x] = count;
}

__global__ void gatherEnds(const uint8_t* kind, const int* fields, int* ends, int n) {
    const int i = blockIdx.x * THREADS + threadIdx.x;
    const bool end = i < n && (kind[i] == 1 || kind[i] == 2);
    int total;
    const int rank = fields[blockIdx.x] + blockExclusive(end, &total);
    if (end) ends[rank] = i;
}

#define CUDA_OK(call)                                                              \
    do {                                                                           \
        cudaError_t s = (call);                                                    \
        if (s != cudaSuccess) {                                                    \
            fprintf(stderr, "line %d: %s\n", __LINE__, cudaGetErrorString(s));     \
            exit(1);                                                               \
        }                                                                          \
    } while (0)

static void readFile(const char* path, void* target, size_t bytes) {
    FILE* file = fopen(path, "rb");
    if (!file || fread(target, 1, bytes, file) != bytes || fgetc(file) != EOF) {
        fprintf(stderr, "%s: expected %zu bytes\n", path, bytes);
        exit(1);
    }
    fclose(file);
}

static void writeFile(const char* path, const void* device, size_t bytes) {
    std::vector<char> host(bytes);
    CUDA_OK(cudaMemcpy(host.data(), device, bytes, cudaMemcpyDeviceToHost));
    FILE* file = fopen(path, "wb");
    if (!file || fwrite(host.data(), 1, bytes, file) != bytes || fclose(file) != 0) {
        fprintf(stderr, "%s: cannot be written\n", path);
        exit(1);
    }
}

int main() {
    int n;
    readFile("data/sizes.bin", &n, sizeof n);
    if (n < 1 || n > 8000000) {
        fprintf(stderr, "data/sizes.bin: %d bytes\n", n);
        return 1;
    }
    std::vector<uint8_t> host(n);
    readFile("data/text.bin", host.data(), n);
    const int blocks = (n + THREADS - 1) / THREADS;
    uint8_t *text, *kind;
    int *counts, *ends, *sum;
    CUDA_OK(cudaMalloc(&text, n));
    CUDA_OK(cudaMalloc(&kind, n));
    CUDA_OK(cudaMalloc(&counts, 2 * blocks * sizeof(int)));
    CUDA_OK(cudaMalloc(&ends, n * sizeof(int)));
    CUDA_OK(cudaMalloc(&sum, sizeof(int)));
    CUDA_OK(cudaMemcpy(text, host.data(), n, cudaMemcpyHostToDevice));
    CUDA_OK(cudaMemset(ends, 0xff, n * sizeof(int)));
    int *quotes = counts, *fields = counts + blocks;
    countQuotes<<<blocks, THREADS>>>(text, quotes, n);
    scanBlocks<<<1, THREADS>>>(quotes, blocks, sum);
    classify<<<blocks, THREADS>>>(text, quotes, kind, fields, n);
    scanBlocks<<<1, THREADS>>>(fields, blocks, sum);
    gatherEnds<<<blocks, THREADS>>>(kind, fields, ends, n);
    CUDA_OK(cudaGetLastError());
    writeFile("data/kind.bin", kind, n);
    writeFile("data/ends.bin", ends, n * sizeof(int));
    writeFile("data/field_count.bin", sum, sizeof(int));
    for (int* pointer : {counts, ends, sum}) CUDA_OK(cudaFree(pointer));
    for (uint8_t* pointer : {text, kind}) CUDA_OK(cudaFree(pointer));
    return 0;
}
