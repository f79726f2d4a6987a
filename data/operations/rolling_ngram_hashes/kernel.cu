#include <stdio.h>
#include <stdlib.h>
#include <cuda_runtime.h>

#define CUDA_CHECK(x)                                                                       \
    if ((x) != cudaSuccess) {                                                               \
        fprintf(stderr, "line %d: %s\n", __LINE__, cudaGetErrorString(cudaGetLastError())); \
        exit(1);                                                                            \
    }

const int ROWS = 50;
const int LENGTH = 200;
const int GRAMS = LENGTH - 2;
const int WARPS = 4;

__device__ unsigned int mix(unsigned int a, unsigned int b, unsigned int c) {
    unsigned int h = ((a * 1000003u) ^ b) * 1000003u ^ c;
    h = (h ^ (h >> 15)) * 2246822519u;
    return h ^ (h >> 13);
}

// One warp per sequence; the minimum stays in registers until the end.
__global__ void trigram_rows(const int* __restrict__ tokens, unsigned int* __restrict__ hash,
                             unsigned int* __restrict__ smallest) {
    const int r = blockIdx.x * WARPS + threadIdx.x / 32;
    if (r >= ROWS) return;
    const int* row = tokens + (size_t)r * LENGTH;
    unsigned int low = 0xffffffffu;
    for (int t = threadIdx.x % 32; t < GRAMS; t += 32) {
        const unsigned int h = mix(row[t], row[t + 1], row[t + 2]);
        hash[(size_t)r * GRAMS + t] = h;
        low = min(low, h);
    }
    for (int s = 16; s > 0; s /= 2) low = min(low, __shfl_down_sync(0xffffffffu, low, s));
    if (threadIdx.x % 32 == 0) smallest[r] = low;
}

int main() {
    const size_t count_tokens = ROWS * LENGTH;
    const size_t num_hash = ROWS * GRAMS;
    int* h_tokens = (int*)malloc(sizeof(int) * count_tokens);
    unsigned int* h_hash = (unsigned int*)malloc(sizeof(unsigned int) * num_hash);
    unsigned int* h_smallest = (unsigned int*)malloc(sizeof(unsigned int) * ROWS);

    FILE* file_tokens = fopen("data/tokens.bin", "rb");
    if (!file_tokens || fread(h_tokens, sizeof(int), count_tokens, file_tokens) != (size_t)count_tokens) {
        fprintf(stderr, "failed to read data/tokens.bin\n");
        return 1;
    }
    fclose(file_tokens);

    int* d_tokens;
    CUDA_CHECK(cudaMalloc(&d_tokens, sizeof(int) * count_tokens));
    unsigned int* d_hash;
    CUDA_CHECK(cudaMalloc(&d_hash, sizeof(unsigned int) * num_hash));
    unsigned int* d_smallest;
    CUDA_CHECK(cudaMalloc(&d_smallest, sizeof(unsigned int) * ROWS));
    CUDA_CHECK(cudaMemcpy(d_tokens, h_tokens, sizeof(int) * count_tokens, cudaMemcpyHostToDevice));

    trigram_rows<<<(ROWS + WARPS - 1) / WARPS, WARPS * 32>>>(d_tokens, d_hash, d_smallest);
    CUDA_CHECK(cudaGetLastError());
    CUDA_CHECK(cudaDeviceSynchronize());

    CUDA_CHECK(cudaMemcpy(h_hash, d_hash, sizeof(unsigned int) * num_hash, cudaMemcpyDeviceToHost));
    CUDA_CHECK(cudaMemcpy(h_smallest, d_smallest, sizeof(unsigned int) * ROWS, cudaMemcpyDeviceToHost));
    FILE* out_hash = fopen("data/hash.bin", "wb");
    if (!out_hash || fwrite(h_hash, sizeof(unsigned int), num_hash, out_hash) != (size_t)(num_hash)) {
        fprintf(stderr, "cannot write data/hash.bin\n");
        return 1;
    }
    fclose(out_hash);
    FILE* out_smallest = fopen("data/smallest.bin", "wb");
    if (!out_smallest || fwrite(h_smallest, sizeof(unsigned int), ROWS, out_smallest) != (size_t)(ROWS)) {
        fprintf(stderr, "cannot write data/smallest.bin\n");
        return 1;
    }
    fclose(out_smallest);

    cudaFree(d_tokens);
    cudaFree(d_hash);
    cudaFree(d_smallest);
    free(h_tokens);
    free(h_hash);
    free(h_smallest);
    return 0;
}
