#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define CUDA_OK(call)                                                                \
    do {                                                                             \
        cudaError_t e = (call);                                                      \
        if (e != cudaSuccess) {                                                      \
            fprintf(stderr, "line %d: %s\n", __LINE__, cudaGetErrorString(e));       \
            exit(1);                                                                 \
        }                                                                            \
    } while (0)

__device__ __forceinline__ uint8_t lower(uint8_t c) { return c >= 'A' && c <= 'Z' ? c + 32 : c; }

__device__ __forceinline__ bool isWord(uint8_t c) {
    return (lower(c) >= 'a' && lower(c) <= 'z') || (c >= '0' && c <= '9') || c == '_';
}

__device__ __forceinline__ bool startsAt(const uint8_t* text, int i, int n) {
    return i < n && isWord(text[i]) && (i == 0 || !isWord(text[i - 1]));
}

__device__ uint32_t hashFrom(const uint8_t* text, int i, int n) {
    uint32_t hash = 0x811C9DC5u;
    for (; i < n && isWord(text[i]); ++i) hash = (hash ^ lower(text[i])) * 0x01000193u;
    return hash;
}

static void readFile(const char* path, void* target, size_t bytes) {
    FILE* file = fopen(path, "rb");
    if (!file || fread(target, 1, bytes, file) != bytes || fgetc(file) != EOF) {
        fprintf(stderr, "%s: wrong length\n", path);
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

constexpr int THREADS = 256;

__global__ void countStarts(const uint8_t* text, int* blocks, int n) {
    const int count = __syncthreads_count(startsAt(text, blockIdx.x * THREADS + threadIdx.x, n));
    if (threadIdx.x == 0) blocks[blockIdx.x] = count;
}

// Each block first adds the counts of the blocks before it, then ranks its own words by ballots.
__global__ void index(const uint8_t* text, const int* blocks, int* starts, uint32_t* hashes, int* count, int n) {
    __shared__ int warps[THREADS / 32], before;
    if (threadIdx.x == 0) before = 0;
    __syncthreads();
    int sum = 0;
    for (int b = threadIdx.x; b < static_cast<int>(blockIdx.x); b += THREADS) sum += blocks[b];
    sum = __reduce_add_sync(0xffffffffu, sum);
    if (threadIdx.x % 32 == 0) atomicAdd(&before, sum);
    const int i = blockIdx.x * THREADS + threadIdx.x;
    const bool start = startsAt(text, i, n);
    const unsigned mask = __ballot_sync(0xffffffffu, start);
    if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = __popc(mask);
    __syncthreads();
    int rank = before + __popc(mask & ((1u << threadIdx.x % 32) - 1));
    for (unsigned w = 0; w < threadIdx.x / 32; ++w) rank += warps[w];
    if (start) {
        starts[rank] = i;
        hashes[rank] = hashFrom(text, i, n);
    }
    if (blockIdx.x == gridDim.x - 1 && threadIdx.x == 0) *count = before + blocks[blockIdx.x];
}

int main() {
    int n;
    readFile("data/sizes.bin", &n, sizeof n);
    if (n < 1 || n > 4000000) {
        fprintf(stderr, "data/sizes.bin: %d bytes\n", n);
        return 1;
    }
    std::vector<uint8_t> host(n);
    readFile("data/text.bin", host.data(), n);
    const int blockCount = (n + THREADS - 1) / THREADS;
    uint8_t* text;
    uint32_t* hashes;
    int *starts, *blocks, *count;
    CUDA_OK(cudaMalloc(&text, n));
    CUDA_OK(cudaMalloc(&hashes, n * sizeof(uint32_t)));
    CUDA_OK(cudaMalloc(&starts, n * sizeof(int)));
    CUDA_OK(cudaMalloc(&blocks, blockCount * sizeof(int)));
    CUDA_OK(cudaMalloc(&count, sizeof(int)));
    CUDA_OK(cudaMemcpy(text, host.data(), n, cudaMemcpyHostToDevice));
    CUDA_OK(cudaMemset(starts, 0xff, n * sizeof(int)));
    CUDA_OK(cudaMemset(hashes, 0, n * sizeof(uint32_t)));
    countStarts<<<blockCount, THREADS>>>(text, blocks, n);
    index<<<blockCount, THREADS>>>(text, blocks, starts, hashes, count, n);
    CUDA_OK(cudaGetLastError());
    writeFile("data/starts.bin", starts, n * sizeof(int));
    writeFile("data/hashes.bin", hashes, n * sizeof(uint32_t));
    writeFile("data/count.bin", count, sizeof(int));
    for (int* pointer : {starts, blocks, count}) CUDA_OK(cudaFree(pointer));
    CUDA_OK(cudaFree(text));
    CUDA_OK(cudaFree(hashes));
    return 0;
}
