#include <cuda_runtime.h>
#include <cstdio>
#include <cstdlib>

#define CHECK(call) \
    do { \
        cudaError_t status = (call); \
        if (status != cudaSuccess) { \
            fprintf(stderr, "CUDA: %s (%s:%d)\n", cudaGetErrorString(status), __FILE__, __LINE__); \
            exit(1); \
        } \
    } while (0)

#define ROWS 24
#define COLS 500
#define BLOCK 256

__global__ void weighted_mean(const float* x, const float* w, float* mean) {
    __shared__ float num[BLOCK];
    __shared__ float den[BLOCK];
    int row = blockIdx.x;
    int t = threadIdx.x;
    float a = 0.0f, b = 0.0f;
    for (int c = t; c < COLS; c += BLOCK) {
        float weight = w[(size_t)row * COLS + c];
        a += weight * x[(size_t)row * COLS + c];
        b += weight;
    }
    num[t] = a;
    den[t] = b;
    __syncthreads();
    for (int s = BLOCK / 2; s > 0; s >>= 1) {
        if (t < s) {
            num[t] += num[t + s];
            den[t] += den[t + s];
        }
        __syncthreads();
    }
    if (t == 0) mean[row] = den[0] > 0.0f ? num[0] / den[0] : 0.0f;
}

int main() {
    float* h_x = (float*)malloc(ROWS * COLS * sizeof(float));
    float* h_w = (float*)malloc(ROWS * COLS * sizeof(float));
    float* h_mean = (float*)malloc(ROWS * sizeof(float));
    FILE* file_x = fopen("data/x.bin", "rb");
    if (!file_x || fread(h_x, sizeof(float), ROWS * COLS, file_x) != (size_t)(ROWS * COLS)) {
        fprintf(stderr, "error reading data/x.bin\n");
        return 1;
    }
    fclose(file_x);
    FILE* file_w = fopen("data/w.bin", "rb");
    if (!file_w || fread(h_w, sizeof(float), ROWS * COLS, file_w) != (size_t)(ROWS * COLS)) {
        fprintf(stderr, "could not read data/w.bin\n");
        return 1;
    }
    fclose(file_w);

    float* dev_x;
    float* dev_w;
    float* dev_mean;
    CHECK(cudaMalloc(&dev_x, ROWS * COLS * sizeof(float)));
    CHECK(cudaMalloc(&dev_w, ROWS * COLS * sizeof(float)));
    CHECK(cudaMalloc(&dev_mean, ROWS * sizeof(float)));
    CHECK(cudaMemcpy(dev_x, h_x, ROWS * COLS * sizeof(float), cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(dev_w, h_w, ROWS * COLS * sizeof(float), cudaMemcpyHostToDevice));

    weighted_mean<<<ROWS, BLOCK>>>(dev_x, dev_w, dev_mean);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(h_mean, dev_mean, ROWS * sizeof(float), cudaMemcpyDeviceToHost));

    FILE* g = fopen("data/mean.bin", "wb");
    if (!g || fwrite(h_mean, sizeof(float), ROWS, g) != (size_t)ROWS) {
        fprintf(stderr, "cannot write data/mean.bin\n");
        return 1;
    }
    fclose(g);

    cudaFree(dev_x);
    cudaFree(dev_w);
    cudaFree(dev_mean);
    free(h_x);
    free(h_w);
    free(h_mean);
    return 0;
}
