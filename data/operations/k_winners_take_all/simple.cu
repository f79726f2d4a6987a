#include <stdio.h>
#include <stdlib.h>
#include <cuda_runtime.h>

const int ROWS = 50;
const int COLS = 200;
const int WINNERS = COLS / 8;

#define CHECK(x)                                                                        \
    {                                                                                   \
        cudaError_t err = (x);                                                          \
        if (err != cudaSuccess) {                                                       \
            fprintf(stderr, "CUDA: %s (line %d)\n", cudaGetErrorString(err), __LINE__); \
            exit(1);                                                                    \
        }                                                                               \
    }

static void slurp(const char* path, void* dst, size_t bytes) {
    FILE* f = fopen(path, "rb");
    if (!f || fread(dst, 1, bytes, f) != bytes) {
        fprintf(stderr, "error reading %s\n", path);
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

// The rank of an element is the number of larger values in its row; rank < winners means it is kept.
__global__ void keep_winners(const float* x, float* y, float* cutoff) {
    __shared__ float row[COLS];
    const size_t base = (size_t)blockIdx.x * COLS;
    for (int c = threadIdx.x; c < COLS; c += blockDim.x) row[c] = x[base + c];
    __syncthreads();
    for (int c = threadIdx.x; c < COLS; c += blockDim.x) {
        float v = row[c];
        int larger = 0;
        for (int j = 0; j < COLS; ++j) larger += row[j] > v;
        y[base + c] = larger < WINNERS ? v : 0.0f;
        if (larger == WINNERS - 1) cutoff[blockIdx.x] = v;
    }
}

int main() {
    const int elements = ROWS * COLS;
    float* x = (float*)malloc(elements * sizeof(float));
    float* y = (float*)malloc(elements * sizeof(float));
    float* cutoff = (float*)malloc(ROWS * sizeof(float));
    slurp("data/x.bin", x, elements * sizeof(float));

    float *d_x = nullptr, *d_y = nullptr, *d_cutoff = nullptr;
    CHECK(cudaMalloc(&d_x, elements * sizeof(float)));
    CHECK(cudaMalloc(&d_y, elements * sizeof(float)));
    CHECK(cudaMalloc(&d_cutoff, ROWS * sizeof(float)));
    CHECK(cudaMemcpy(d_x, x, elements * sizeof(float), cudaMemcpyHostToDevice));

    keep_winners<<<ROWS, 256>>>(d_x, d_y, d_cutoff);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(y, d_y, elements * sizeof(float), cudaMemcpyDeviceToHost));
    CHECK(cudaMemcpy(cutoff, d_cutoff, ROWS * sizeof(float), cudaMemcpyDeviceToHost));

    dump("data/y.bin", y, elements * sizeof(float));
    dump("data/cutoff.bin", cutoff, ROWS * sizeof(float));

    cudaFree(d_cutoff);
    cudaFree(d_y);
    cudaFree(d_x);
    free(x);
    free(y);
    free(cutoff);
    return 0;
}
