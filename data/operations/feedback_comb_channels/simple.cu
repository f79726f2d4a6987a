#include <cuda_runtime.h>
#include <stdio.h>
#include <stdlib.h>

#define CHANNELS 8
#define SAMPLES 3000

#define CHECK(call)                                                                         \
    do {                                                                                    \
        cudaError_t status = (call);                                                        \
        if (status != cudaSuccess) {                                                        \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(status)); \
            exit(1);                                                                        \
        }                                                                                   \
    } while (0)

static void readInput(const char* path, void* dst, size_t bytes) {
    FILE* f = fopen(path, "rb");
    if (!f || fread(dst, 1, bytes, f) != bytes) {
        fprintf(stderr, "error reading %s\n", path);
        exit(1);
    }
    fclose(f);
}

static void writeOutput(const char* path, const void* src, size_t bytes) {
    FILE* f = fopen(path, "wb");
    if (!f || fwrite(src, 1, bytes, f) != bytes) {
        fprintf(stderr, "cannot write %s\n", path);
        exit(1);
    }
    fclose(f);
}

// One thread per channel.
__global__ void comb_filter(const float* x, const int* delay, const float* gain, float* y) {
    int c = blockIdx.x * blockDim.x + threadIdx.x;
    if (c >= CHANNELS) return;
    int d = delay[c];
    float g = gain[c];
    const float* in = x + (size_t)c * SAMPLES;
    float* out = y + (size_t)c * SAMPLES;
    for (int t = 0; t < SAMPLES; t++) {
        float v = in[t];
        if (t >= d) v += g * out[t - d];
        out[t] = v;
    }
}

int main() {
    const size_t n_x = CHANNELS * SAMPLES;
    const size_t x_bytes = n_x * sizeof(float);
    const size_t delay_bytes = CHANNELS * sizeof(int);
    const size_t gain_bytes = CHANNELS * sizeof(float);
    float *h_x = (float*)malloc(x_bytes);
    int *h_delay = (int*)malloc(delay_bytes);
    float *h_gain = (float*)malloc(gain_bytes);
    float *h_y = (float*)malloc(x_bytes);

    readInput("data/x.bin", h_x, x_bytes);
    readInput("data/delay.bin", h_delay, delay_bytes);
    readInput("data/gain.bin", h_gain, gain_bytes);

    float *dev_x;
    CHECK(cudaMalloc(&dev_x, x_bytes));
    int *dev_delay;
    CHECK(cudaMalloc(&dev_delay, delay_bytes));
    float *dev_gain;
    CHECK(cudaMalloc(&dev_gain, gain_bytes));
    float *dev_y;
    CHECK(cudaMalloc(&dev_y, x_bytes));
    CHECK(cudaMemcpy(dev_x, h_x, x_bytes, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(dev_delay, h_delay, delay_bytes, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(dev_gain, h_gain, gain_bytes, cudaMemcpyHostToDevice));

    comb_filter<<<(CHANNELS + 31) / 32, 32>>>(dev_x, dev_delay, dev_gain, dev_y);
    CHECK(cudaGetLastError());
    CHECK(cudaDeviceSynchronize());

    CHECK(cudaMemcpy(h_y, dev_y, x_bytes, cudaMemcpyDeviceToHost));
    writeOutput("data/y.bin", h_y, x_bytes);

    cudaFree(dev_x);
    cudaFree(dev_delay);
    cudaFree(dev_gain);
    cudaFree(dev_y);
    free(h_x);
    free(h_delay);
    free(h_gain);
    free(h_y);
    return 0;
}
