#include <cuda_runtime.h>
#include <stdio.h>
#include <stdlib.h>

#define THREADS 256
#define WARPS (THREADS / 32)
#define FULL 0xffffffffu
#define MAX_N 268435456

static void must(cudaError_t code, int line) {
    if (code != cudaSuccess) {
        fprintf(stderr, "CUDA error at line %d: %s\n", line, cudaGetErrorString(code));
        exit(1);
    }
}
#define MUST(x) must((x), __LINE__)

__device__ __forceinline__ bool keep(const float* samples, int i, int n) {
    return i < n && samples[i] > 0.25f;
}

__global__ void countKept(const float* samples, int n, int* blockCounts) {
    __shared__ int warpCounts[WARPS];
    int i = blockIdx.x * THREADS + threadIdx.x;
    unsigned mask = __ballot_sync(FULL, keep(samples, i, n));
    if (threadIdx.x % 32 == 0) warpCounts[threadIdx.x / 32] = __popc(mask);
    __syncthreads();
    if (threadIdx.x == 0) {
        int sum = 0;
        for (int w = 0; w < WARPS; ++w) sum += warpCounts[w];
        blockCounts[blockIdx.x] = sum;
    }
}

__global__ void scanCounts(int* blockCounts, int blocks, int* total) {
    __shared__ int scan[THREADS];
    int t = threadIdx.x;
    int carry = 0;  // the same in every thread
    for (int base = 0; base < blocks; base += THREADS) {
        int own = base + t < blocks ? blockCounts[base + t] : 0;
        scan[t] = own;
        __syncthreads();
        for (int d = 1; d < THREADS; d *= 2) {
            int left = t >= d ? scan[t - d] : 0;
            __syncthreads();
            scan[t] += left;
            __syncthreads();
        }
        if (base + t < blocks) blockCounts[base + t] = carry + scan[t] - own;
        carry += scan[THREADS - 1];
        __syncthreads();  // the next round overwrites scan
    }
    if (t == 0) *total = carry;
}

__global__ void scatterKept(const float* samples, int n, const int* blockOffsets, float* kept) {
    __shared__ int warpCounts[WARPS];
    int i = blockIdx.x * THREADS + threadIdx.x;
    int lane = threadIdx.x % 32;
    int warp = threadIdx.x / 32;
    bool mine = keep(samples, i, n);
    unsigned mask = __ballot_sync(FULL, mine);
    if (lane == 0) warpCounts[warp] = __popc(mask);
    __syncthreads();
    if (mine) {
        int rank = blockOffsets[blockIdx.x] + __popc(mask & ((1u << lane) - 1u));
        for (int w = 0; w < warp; ++w) rank += warpCounts[w];
        kept[rank] = samples[i];
    }
}

static void load(const char* path, void* data, size_t bytes) {
    FILE* f = fopen(path, "rb");
    if (!f || fread(data, 1, bytes, f) != bytes || fgetc(f) != EOF) {
        fprintf(stderr, "%s must hold %zu bytes\n", path, bytes);
        exit(1);
    }
    fclose(f);
}

static void save(const char* path, const void* data, size_t bytes) {
    FILE* f = fopen(path, "wb");
    if (!f || fwrite(data, 1, bytes, f) != bytes || fclose(f) != 0) {
        fprintf(stderr, "cannot write %s\n", path);
        exit(1);
    }
}

int main(void) {
    int n = 0;
    load("data/sizes.bin", &n, sizeof(n));
    if (n < 1 || n > MAX_N) {
        fprintf(stderr, "data/sizes.bin: n is %d, allowed: 1 to %d\n", n, MAX_N);
        return 1;
    }
    const size_t bytes = n * sizeof(float);
    const int blocks = (n + THREADS - 1) / THREADS;

    float* host = (float*)malloc(bytes);
    if (!host) {
        fprintf(stderr, "no memory for %zu bytes\n", bytes);
        return 1;
    }
    load("data/samples.bin", host, bytes);

    float *samples, *kept;
    int *counts, *total;
    MUST(cudaMalloc((void**)&samples, bytes));
    MUST(cudaMalloc((void**)&kept, bytes));
    MUST(cudaMalloc((void**)&counts, blocks * sizeof(int)));
    MUST(cudaMalloc((void**)&total, sizeof(int)));
    MUST(cudaMemcpy(samples, host, bytes, cudaMemcpyHostToDevice));
    MUST(cudaMemset(kept, 0, bytes));

    countKept<<<blocks, THREADS>>>(samples, n, counts);
    MUST(cudaGetLastError());
    scanCounts<<<1, THREADS>>>(counts, blocks, total);
    MUST(cudaGetLastError());
    scatterKept<<<blocks, THREADS>>>(samples, n, counts, kept);
    MUST(cudaGetLastError());

    int keptCount = 0;
    MUST(cudaMemcpy(host, kept, bytes, cudaMemcpyDeviceToHost));
    MUST(cudaMemcpy(&keptCount, total, sizeof(int), cudaMemcpyDeviceToHost));
    save("data/kept.bin", host, bytes);
    save("data/kept_count.bin", &keptCount, sizeof(int));

    MUST(cudaFree(samples));
    MUST(cudaFree(kept));
    MUST(cudaFree(counts));
    MUST(cudaFree(total));
    free(host);
    return 0;
}
