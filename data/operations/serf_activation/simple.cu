#include <cuda_runtime.h>
#include <cstdio>
#include <cstdlib>

#define ROWS 40
#define COLS 500

#define SAFE(call) do { cudaError_t err = (call); if (err != cudaSuccess) { \
    fprintf(stderr, "%s failed: %s\n", #call, cudaGetErrorString(err)); exit(EXIT_FAILURE); } } while (0)

__global__ void serf(const float* x, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float v = x[i];
    float sp = fmaxf(v, 0.0f) + log1pf(expf(-fabsf(v)));
    y[i] = v * erff(sp);
}

int main() {
    const int count = ROWS * COLS;
    size_t bytes = count * sizeof(float);
    float* host_x = (float*)malloc(bytes);
    float* host_y = (float*)malloc(bytes);

    FILE* f = fopen("data/x.bin", "rb");
    if (!f || fread(host_x, sizeof(float), count, f) != (size_t)count) {
        fprintf(stderr, "cannot read data/x.bin\n");
        return 1;
    }
    fclose(f);

    float *dev_x, *dev_y;
    SAFE(cudaMalloc(&dev_x, bytes));
    SAFE(cudaMalloc(&dev_y, bytes));
    SAFE(cudaMemcpy(dev_x, host_x, bytes, cudaMemcpyHostToDevice));

    const int threads = 256;
    const int blocks = (count + threads - 1) / threads;
    serf<<<blocks, threads>>>(dev_x, dev_y, count);
    SAFE(cudaGetLastError());
    SAFE(cudaDeviceSynchronize());
    SAFE(cudaMemcpy(host_y, dev_y, bytes, cudaMemcpyDeviceToHost));

    f = fopen("data/y.bin", "wb");
    if (!f || fwrite(host_y, sizeof(float), count, f) != (size_t)count) {
        fprintf(stderr, "cannot write data/y.bin\n");
        return 1;
    }
    fclose(f);

    cudaFree(dev_x);
    cudaFree(dev_y);
    free(host_x);
    free(host_y);
    return 0;
}
