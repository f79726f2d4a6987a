#include <stdio.h>
#include <stdlib.h>
#include <cuda_runtime.h>

#define CHECK_CUDA(call) \
    { \
        cudaError_t err_ = (call); \
        if (err_ != cudaSuccess) { \
            fprintf(stderr, "CUDA: %s (line %d)\n", cudaGetErrorString(err_), __LINE__); \
            exit(1); \
        } \
    }

#define N 30000

__global__ void sqnl(const float* x, float* y, float* slope, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float v = x[i];
    if (v > 2.0f) {
        y[i] = 1.0f;
        slope[i] = 0.0f;
    } else if (v >= 0.0f) {
        y[i] = v - v * v / 4.0f;
        slope[i] = 1.0f - v / 2.0f;
    } else if (v >= -2.0f) {
        y[i] = v + v * v / 4.0f;
        slope[i] = 1.0f + v / 2.0f;
    } else {
        y[i] = -1.0f;
        slope[i] = 0.0f;
    }
}

int main() {
    float* host_x = (float*)malloc(N * sizeof(float));
    float* host_y = (float*)malloc(N * sizeof(float));
    float* host_slope = (float*)malloc(N * sizeof(float));

    FILE* f = fopen("data/x.bin", "rb");
    if (!f || fread(host_x, sizeof(float), N, f) != (size_t)N) {
        fprintf(stderr, "cannot read data/x.bin\n");
        return 1;
    }
    fclose(f);

    float *dev_x, *dev_y, *dev_slope;
    CHECK_CUDA(cudaMalloc(&dev_x, N * sizeof(float)));
    CHECK_CUDA(cudaMalloc(&dev_y, N * sizeof(float)));
    CHECK_CUDA(cudaMalloc(&dev_slope, N * sizeof(float)));
    CHECK_CUDA(cudaMemcpy(dev_x, host_x, N * sizeof(float), cudaMemcpyHostToDevice));

    int threads = 256;
    sqnl<<<(N + threads - 1) / threads, threads>>>(dev_x, dev_y, dev_slope, N);
    CHECK_CUDA(cudaGetLastError());
    CHECK_CUDA(cudaMemcpy(host_y, dev_y, N * sizeof(float), cudaMemcpyDeviceToHost));
    CHECK_CUDA(cudaMemcpy(host_slope, dev_slope, N * sizeof(float), cudaMemcpyDeviceToHost));

    f = fopen("data/y.bin", "wb");
    if (!f || fwrite(host_y, sizeof(float), N, f) != (size_t)N) {
        fprintf(stderr, "cannot write data/y.bin\n");
        return 1;
    }
    fclose(f);
    f = fopen("data/slope.bin", "wb");
    if (!f || fwrite(host_slope, sizeof(float), N, f) != (size_t)N) {
        fprintf(stderr, "cannot write data/slope.bin\n");
        return 1;
    }
    fclose(f);

    CHECK_CUDA(cudaFree(dev_x));
    CHECK_CUDA(cudaFree(dev_y));
    CHECK_CUDA(cudaFree(dev_slope));
    free(host_x);
    free(host_y);
    free(host_slope);
    return 0;
}
