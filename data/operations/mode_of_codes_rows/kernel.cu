#include <stdio.h>
#include <stdlib.h>
#include <cuda_runtime.h>

#define ROWS 60
#define COLS 700
#define WARPS 4

#define checkCudaErrors(call) \
    do { \
        cudaError_t code = (call); \
        if (code != cudaSuccess) { \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(code)); \
            exit(EXIT_FAILURE); \
        } \
    } while (0)

// Every warp has counters of its own; they are added up and reduced by the first 64 threads.
__global__ void row_mode_private(const unsigned char* __restrict__ codes, unsigned char* mode, int* times) {
    __shared__ int counts[WARPS][64];
    __shared__ int keys[64];
    int t = threadIdx.x;
    int warp = t / 32;
    for (int k = t; k < WARPS * 64; k += WARPS * 32) counts[k / 64][k % 64] = 0;
    __syncthreads();
    const unsigned char* row = codes + (size_t)blockIdx.x * COLS;
    for (int c = t; c < COLS; c += WARPS * 32) atomicAdd(&counts[warp][row[c] & 63], 1);
    __syncthreads();
    if (t < 64) {
        int sum = 0;
        for (int w = 0; w < WARPS; ++w) sum += counts[w][t];
        keys[t] = sum * 64 + (63 - t);
    }
    __syncthreads();
    for (int s = 32; s > 0; s >>= 1) {
        if (t < s) keys[t] = max(keys[t], keys[t + s]);
        __syncthreads();
    }
    if (t == 0) {
        mode[blockIdx.x] = (unsigned char)(63 - keys[0] % 64);
        times[blockIdx.x] = keys[0] / 64;
    }
}

int main() {
    unsigned char* h_codes = (unsigned char*)malloc(ROWS * COLS * sizeof(unsigned char));
    unsigned char* h_mode = (unsigned char*)malloc(ROWS * sizeof(unsigned char));
    int* h_times = (int*)malloc(ROWS * sizeof(int));
    FILE* f = fopen("data/codes.bin", "rb");
    if (!f || fread(h_codes, sizeof(unsigned char), ROWS * COLS, f) != (size_t)(ROWS * COLS)) {
        fprintf(stderr, "cannot read data/codes.bin\n");
        return 1;
    }
    fclose(f);

    unsigned char* d_codes;
    unsigned char* d_mode;
    int* d_times;
    checkCudaErrors(cudaMalloc(&d_codes, ROWS * COLS * sizeof(unsigned char)));
    checkCudaErrors(cudaMalloc(&d_mode, ROWS * sizeof(unsigned char)));
    checkCudaErrors(cudaMalloc(&d_times, ROWS * sizeof(int)));
    checkCudaErrors(cudaMemcpy(d_codes, h_codes, ROWS * COLS * sizeof(unsigned char), cudaMemcpyHostToDevice));

    row_mode_private<<<ROWS, WARPS * 32>>>(d_codes, d_mode, d_times);
    checkCudaErrors(cudaGetLastError());
    checkCudaErrors(cudaMemcpy(h_mode, d_mode, ROWS * sizeof(unsigned char), cudaMemcpyDeviceToHost));
    checkCudaErrors(cudaMemcpy(h_times, d_times, ROWS * sizeof(int), cudaMemcpyDeviceToHost));

    FILE* fo_mode = fopen("data/mode.bin", "wb");
    if (!fo_mode || fwrite(h_mode, sizeof(unsigned char), ROWS, fo_mode) != (size_t)ROWS) {
        fprintf(stderr, "cannot write data/mode.bin\n");
        return 1;
    }
    fclose(fo_mode);
    FILE* fo_times = fopen("data/times.bin", "wb");
    if (!fo_times || fwrite(h_times, sizeof(int), ROWS, fo_times) != (size_t)ROWS) {
        fprintf(stderr, "cannot write data/times.bin\n");
        return 1;
    }
    fclose(fo_times);

    cudaFree(d_codes);
    cudaFree(d_mode);
    cudaFree(d_times);
    free(h_codes);
    free(h_mode);
    free(h_times);
    return 0;
}
