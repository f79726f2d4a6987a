#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

#define ROWS 32
#define COLS 1000

#define CHECK(call)                                                                      \
    do {                                                                                 \
        cudaError_t err = (call);                                                        \
        if (err != cudaSuccess) {                                                        \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(err)); \
            exit(EXIT_FAILURE);                                                          \
        }                                                                                \
    } while (0)

__global__ void squareplus(const float* x, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        float v = x[i];
        y[i] = 0.5f * (v + sqrtf(v * v + 4.0f));
    }
}

int main() {
    const int n = ROWS * COLS;
    const size_t bytes = n * sizeof(float);
    float* h_x = (float*)malloc(bytes);
    float* h_y = (float*)malloc(bytes);

    FILE* in = fopen("data/x.bin", "rb");
    if (!in || fread(h_x, sizeof(float), n, in) != (size_t)n) {
        fprintf(stderr, "cannot read data/x.bin\n");
        return 1;
    }
    fclose(in);

    float *d_x, *d_y;
    CHECK(cudaMalloc(&d_x, bytes));
    CHECK(cudaMalloc(&d_y, bytes));
    CHECK(cudaMemcpy(d_x, h_x, bytes, cudaMemcpyHostToDevice));

    const int block = 256;
    const int grid = (n + block - 1) / block;
    squareplus<<<grid, block>>>(d_x, d_y, n);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(h_y, d_y, bytes, cudaMemcpyDeviceToHost));

    FILE* out = fopen("data/y.bin", "wb");
    if (!out || fwrite(h_y, sizeof(float), n, out) != (size_t)n) {
        fprintf(stderr, "cannot write data/y.bin\n");
        return 1;
    }
    fclose(out);

    cudaFree(d_x);
    cudaFree(d_y);
    free(h_x);
    free(h_y);
    return 0;
}
