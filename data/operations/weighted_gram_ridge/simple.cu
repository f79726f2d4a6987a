#include <cuda_runtime.h>
#include <stdio.h>
#include <stdlib.h>

#define TRY(call) \
    do { \
        cudaError_t code_ = call; \
        if (code_ != cudaSuccess) { \
            fprintf(stderr, "%s:%d %s\n", __FILE__, __LINE__, cudaGetErrorString(code_)); \
            exit(EXIT_FAILURE); \
        } \
    } while (0)

#define ROWS 24
#define COLS 500
#define BLOCK 128

// Block (j, i) sums one entry of the lower triangle and mirrors it.
__global__ void weighted_gram(const float* a, const float* w, float* g) {
    __shared__ float partial[BLOCK];
    int i = blockIdx.y, j = blockIdx.x;
    if (j > i) return;
    float sum = 0.0f;
    for (int k = threadIdx.x; k < COLS; k += BLOCK) {
        sum += w[k] * a[i * COLS + k] * a[j * COLS + k];
    }
    partial[threadIdx.x] = sum;
    __syncthreads();
    for (int s = BLOCK / 2; s > 0; s >>= 1) {
        if (threadIdx.x < s) partial[threadIdx.x] += partial[threadIdx.x + s];
        __syncthreads();
    }
    if (threadIdx.x == 0) {
        float value = partial[0] / COLS;
        if (i == j) value += 0.1f;
        g[i * ROWS + j] = value;
        g[j * ROWS + i] = value;
    }
}

static void slurp(const char* path, void* dst, size_t bytes) {
    FILE* f = fopen(path, "rb");
    if (!f || fread(dst, 1, bytes, f) != bytes) {
        fprintf(stderr, "bad input file %s\n", path);
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

int main() {
    float* h_a = (float*)malloc(sizeof(float) * ROWS * COLS);
    float* h_w = (float*)malloc(COLS * sizeof(float));
    float* h_g = (float*)malloc(sizeof(float) * ROWS * ROWS);

    slurp("data/a.bin", h_a, sizeof(float) * ROWS * COLS);
    slurp("data/w.bin", h_w, COLS * sizeof(float));

    float *d_a, *d_w, *d_g;
    TRY(cudaMalloc(&d_a, sizeof(float) * ROWS * COLS));
    TRY(cudaMalloc(&d_w, COLS * sizeof(float)));
    TRY(cudaMalloc(&d_g, sizeof(float) * ROWS * ROWS));
    TRY(cudaMemcpy(d_a, h_a, sizeof(float) * ROWS * COLS, cudaMemcpyHostToDevice));
    TRY(cudaMemcpy(d_w, h_w, COLS * sizeof(float), cudaMemcpyHostToDevice));

    dim3 grid(ROWS, ROWS);
    weighted_gram<<<grid, BLOCK>>>(d_a, d_w, d_g);
    TRY(cudaGetLastError());

    TRY(cudaMemcpy(h_g, d_g, sizeof(float) * ROWS * ROWS, cudaMemcpyDeviceToHost));
    dump("data/g.bin", h_g, sizeof(float) * ROWS * ROWS);

    cudaFree(d_a);
    cudaFree(d_w);
    cudaFree(d_g);
    free(h_a);
    free(h_w);
    free(h_g);
    return 0;
}
