#include <stdio.h>
#include <stdlib.h>
#include <cuda_runtime.h>

#define ROWS 48
#define COLS 300

#define checkCudaErrors(call) \
    do { \
        cudaError_t e = (call); \
        if (e != cudaSuccess) { \
            fprintf(stderr, "CUDA: %s (%s:%d)\n", cudaGetErrorString(e), __FILE__, __LINE__); \
            exit(EXIT_FAILURE); \
        } \
    } while (0)

static void fetch(const char* path, void* dst, size_t bytes) {
    FILE* f = fopen(path, "rb");
    if (!f || fread(dst, 1, bytes, f) != bytes) {
        fprintf(stderr, "cannot read %s\n", path);
        exit(1);
    }
    fclose(f);
}

static void dump(const char* path, const void* src, size_t bytes) {
    FILE* f = fopen(path, "wb");
    if (!f || fwrite(src, 1, bytes, f) != bytes) {
        fprintf(stderr, "cannot write %s\n", path);
        exit(1);
    }
    fclose(f);
}

__global__ void running_maximum(const float* x, float* peak, int* at) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= ROWS) return;
    size_t base = (size_t)r * COLS;
    float best = x[base];
    int where = 0;
    for (int c = 0; c < COLS; ++c) {
        float v = x[base + c];
        if (v > best) {
            best = v;
            where = c;
        }
        peak[base + c] = best;
        at[base + c] = where;
    }
}

int main() {
    float* x = (float*)malloc(ROWS * COLS * sizeof(float));
    float* peak = (float*)malloc(ROWS * COLS * sizeof(float));
    int* at = (int*)malloc(ROWS * COLS * sizeof(int));
    fetch("data/x.bin", x, ROWS * COLS * sizeof(float));

    float* d_x;
    float* d_peak;
    int* d_at;
    checkCudaErrors(cudaMalloc(&d_x, ROWS * COLS * sizeof(float)));
    checkCudaErrors(cudaMalloc(&d_peak, ROWS * COLS * sizeof(float)));
    checkCudaErrors(cudaMalloc(&d_at, ROWS * COLS * sizeof(int)));
    checkCudaErrors(cudaMemcpy(d_x, x, ROWS * COLS * sizeof(float), cudaMemcpyHostToDevice));

    running_maximum<<<(ROWS + 64 - 1) / 64, 64>>>(d_x, d_peak, d_at);
    checkCudaErrors(cudaGetLastError());
    checkCudaErrors(cudaMemcpy(peak, d_peak, ROWS * COLS * sizeof(float), cudaMemcpyDeviceToHost));
    checkCudaErrors(cudaMemcpy(at, d_at, ROWS * COLS * sizeof(int), cudaMemcpyDeviceToHost));

    dump("data/peak.bin", peak, ROWS * COLS * sizeof(float));
    dump("data/at.bin", at, ROWS * COLS * sizeof(int));

    cudaFree(d_x);
    cudaFree(d_peak);
    cudaFree(d_at);
    free(x);
    free(peak);
    free(at);
    return 0;
}
