#include <cuda_runtime.h>
#include <stdio.h>
#include <stdlib.h>

const int CHANNELS = 10;
const int SAMPLES = 2000;

#define CK(expr) do { cudaError_t err = (expr); if (err != cudaSuccess) { \
    fprintf(stderr, "CUDA error %s in line %d\n", cudaGetErrorString(err), __LINE__); exit(EXIT_FAILURE); } } while (0)

static void get_data(const char* path, void* dst, size_t bytes) {
    FILE* f = fopen(path, "rb");
    if (!f || fread(dst, 1, bytes, f) != bytes) {
        fprintf(stderr, "error reading %s\n", path);
        exit(1);
    }
    fclose(f);
}

static void put_data(const char* path, const void* src, size_t bytes) {
    FILE* f = fopen(path, "wb");
    if (!f || fwrite(src, 1, bytes, f) != bytes) {
        fprintf(stderr, "cannot write %s\n", path);
        exit(1);
    }
    fclose(f);
}

__global__ void delay_channels(const float* x, const float* delay, float* y) {
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    int c = blockIdx.y;
    if (t >= SAMPLES) return;
    int whole = (int)floorf(delay[c]);
    float q = delay[c] - whole;
    float h[4];
    h[0] = -q * (q - 1.0f) * (q - 2.0f) / 6.0f;
    h[1] = (q + 1.0f) * (q - 1.0f) * (q - 2.0f) / 2.0f;
    h[2] = -(q + 1.0f) * q * (q - 2.0f) / 2.0f;
    h[3] = (q + 1.0f) * q * (q - 1.0f) / 6.0f;
    float sum = 0.0f;
    for (int k = 0; k < 4; k++) {
        int s = t - whole + 1 - k;
        if (s >= 0) sum += h[k] * x[(size_t)c * SAMPLES + s];
    }
    y[(size_t)c * SAMPLES + t] = sum;
}

int main() {
    size_t num_x = CHANNELS * SAMPLES;
    const size_t x_bytes = num_x * sizeof(float);
    const size_t delay_bytes = CHANNELS * sizeof(float);
    float *x = (float*)malloc(x_bytes);
    float *delay = (float*)malloc(delay_bytes);
    float *y = (float*)malloc(x_bytes);

    get_data("data/x.bin", x, x_bytes);
    get_data("data/delay.bin", delay, delay_bytes);

    float *dev_x;
    float *dev_delay;
    float *dev_y;
    CK(cudaMalloc(&dev_x, x_bytes));
    CK(cudaMalloc(&dev_delay, delay_bytes));
    CK(cudaMalloc(&dev_y, x_bytes));
    CK(cudaMemcpy(dev_x, x, x_bytes, cudaMemcpyHostToDevice));
    CK(cudaMemcpy(dev_delay, delay, delay_bytes, cudaMemcpyHostToDevice));

    dim3 grid((SAMPLES + 255) / 256, CHANNELS);
    delay_channels<<<grid, 256>>>(dev_x, dev_delay, dev_y);
    CK(cudaGetLastError());

    CK(cudaMemcpy(y, dev_y, x_bytes, cudaMemcpyDeviceToHost));
    put_data("data/y.bin", y, x_bytes);

    cudaFree(dev_x);
    cudaFree(dev_delay);
    cudaFree(dev_y);
    free(x);
    free(delay);
    free(y);
    return 0;
}
