#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

void loadTensor(const char* path, void* data, size_t bytes) {
    FILE* f = fopen(path, "rb");
    if (!f || fread(data, 1, bytes, f) != bytes) {
        fprintf(stderr, "cannot read %s\n", path);
        exit(1);
    }
    fclose(f);
}

void saveTensor(const char* path, const void* data, size_t bytes) {
    FILE* f = fopen(path, "wb");
    if (!f || fwrite(data, 1, bytes, f) != bytes) {
        fprintf(stderr, "cannot write %s\n", path);
        exit(1);
    }
    fclose(f);
}
//@given

const int ROWS = 100;
const int LEN_A = 50;
const int LEN_B = 80;
const int WARPS = 4;
#define CEIL_DIV(a, b) (((a) + (b) - 1) / (b))

// A warp handles one row: its lanes search for the values of the first set in the second one.
__global__ void overlap_warp(const int* __restrict__ first, const int* __restrict__ second,
                             int* __restrict__ common, float* __restrict__ jaccard) {
    const int lane = threadIdx.x % 32;
    const int r = blockIdx.x * WARPS + threadIdx.x / 32;
    if (r >= ROWS) return;
    const int* a = first + (size_t)r * LEN_A;
    const int* b = second + (size_t)r * LEN_B;
    int hits = 0;
    for (int i = lane; i < LEN_A; i += 32) {
        const int value = a[i];
        int lo = 0, hi = LEN_B;
        while (lo < hi) {
            int mid = (lo + hi) >> 1;
            if (b[mid] < value) lo = mid + 1;
            else hi = mid;
        }
        hits += lo < LEN_B && b[lo] == value;
    }
    for (int step = 16; step > 0; step /= 2) hits += __shfl_xor_sync(0xffffffffu, hits, step);
    if (lane == 0) {
        common[r] = hits;
        jaccard[r] = (float)hits / (LEN_A + LEN_B - hits);
    }
}

int main() {
    const size_t num_first = (size_t)ROWS * LEN_A;
    const size_t num_second = ROWS * LEN_B;
    const size_t bytes_first = num_first * sizeof(int);
    const size_t bytes_second = num_second * sizeof(int);
    const size_t bytes_common = ROWS * sizeof(int);
    const size_t bytes_jaccard = ROWS * sizeof(float);
    int* h_first = (int*)malloc(bytes_first);
    int* h_second = (int*)malloc(bytes_second);
    int* h_common = (int*)malloc(bytes_common);
    float* h_jaccard = (float*)malloc(bytes_jaccard);
    loadTensor("data/first.bin", h_first, bytes_first);
    loadTensor("data/second.bin", h_second, bytes_second);

    int *d_first, *d_second, *d_common;
    float *d_jaccard;
    cudaMalloc(&d_first, bytes_first);
    cudaMalloc(&d_second, bytes_second);
    cudaMalloc(&d_common, bytes_common);
    cudaMalloc(&d_jaccard, bytes_jaccard);
    cudaMemcpy(d_first, h_first, bytes_first, cudaMemcpyHostToDevice);
    cudaMemcpy(d_second, h_second, bytes_second, cudaMemcpyHostToDevice);

    const int blocks = CEIL_DIV(ROWS, WARPS);
    overlap_warp<<<blocks, 32 * WARPS>>>(d_first, d_second, d_common, d_jaccard);

    cudaMemcpy(h_common, d_common, bytes_common, cudaMemcpyDeviceToHost);
    cudaMemcpy(h_jaccard, d_jaccard, bytes_jaccard, cudaMemcpyDeviceToHost);
    if (cudaGetLastError() != cudaSuccess) {
        fprintf(stderr, "GPU error\n");
        return 1;
    }
    saveTensor("data/common.bin", h_common, bytes_common);
    saveTensor("data/jaccard.bin", h_jaccard, bytes_jaccard);

    cudaFree(d_first);
    cudaFree(d_second);
    cudaFree(d_common);
    cudaFree(d_jaccard);
    free(h_first);
    free(h_second);
    free(h_common);
    free(h_jaccard);
    return 0;
}
