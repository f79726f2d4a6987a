#include <cuda_runtime.h>
#include <cstdio>
#include <cstdlib>

#define gpuErrchk(call)                                                                  \
    do {                                                                                 \
        cudaError_t code = (call);                                                       \
        if (code != cudaSuccess) {                                                       \
            printf("CUDA failure at line %d: %s\n", __LINE__, cudaGetErrorString(code)); \
            exit(EXIT_FAILURE);                                                          \
        }                                                                                \
    } while (0)

const int ASSETS = 40;
const int DAYS = 300;

__global__ void average_true_range(const float* high, const float* low, const float* close, float* atr) {
    int a = blockIdx.x * blockDim.x + threadIdx.x;
    if (a >= ASSETS) return;
    size_t row = (size_t)a * DAYS;
    float average = 0.0f;
    for (int t = 0; t < DAYS; t++) {
        float h = high[row + t];
        float l = low[row + t];
        float range = h - l;
        if (t > 0) {
            float before = close[row + t - 1];
            range = fmaxf(range, fmaxf(fabsf(h - before), fabsf(l - before)));
        }
        int n = t < 14 ? t + 1 : 14;
        average = ((n - 1) * average + range) / n;
        atr[row + t] = average;
    }
}

int main() {
    const size_t num = (size_t)ASSETS * DAYS;
    float* h_high = (float*)malloc(num * sizeof(float));
    float* h_low = (float*)malloc(num * sizeof(float));
    float* h_close = (float*)malloc(num * sizeof(float));
    float* h_atr = (float*)malloc(num * sizeof(float));

    FILE* f = fopen("data/high.bin", "rb");
    if (!f || fread(h_high, sizeof(float), num, f) != num) {
        fprintf(stderr, "cannot read data/high.bin\n");
        return 1;
    }
    fclose(f);
    f = fopen("data/low.bin", "rb");
    if (!f || fread(h_low, sizeof(float), num, f) != num) {
        fprintf(stderr, "cannot read data/low.bin\n");
        return 1;
    }
    fclose(f);
    f = fopen("data/close.bin", "rb");
    if (!f || fread(h_close, sizeof(float), num, f) != num) {
        fprintf(stderr, "cannot read data/close.bin\n");
        return 1;
    }
    fclose(f);

    float *dev_high, *dev_low, *dev_close, *dev_atr;
    gpuErrchk(cudaMalloc(&dev_high, num * sizeof(float)));
    gpuErrchk(cudaMalloc(&dev_low, num * sizeof(float)));
    gpuErrchk(cudaMalloc(&dev_close, num * sizeof(float)));
    gpuErrchk(cudaMalloc(&dev_atr, num * sizeof(float)));

    gpuErrchk(cudaMemcpy(dev_high, h_high, num * sizeof(float), cudaMemcpyHostToDevice));
    gpuErrchk(cudaMemcpy(dev_low, h_low, num * sizeof(float), cudaMemcpyHostToDevice));
    gpuErrchk(cudaMemcpy(dev_close, h_close, num * sizeof(float), cudaMemcpyHostToDevice));

    average_true_range<<<(ASSETS + 63) / 64, 64>>>(dev_high, dev_low, dev_close, dev_atr);
    gpuErrchk(cudaGetLastError());
    gpuErrchk(cudaDeviceSynchronize());
    gpuErrchk(cudaMemcpy(h_atr, dev_atr, num * sizeof(float), cudaMemcpyDeviceToHost));

    FILE* dst_file = fopen("data/atr.bin", "wb");
    if (!dst_file || fwrite(h_atr, sizeof(float), num, dst_file) != num) {
        fprintf(stderr, "cannot write data/atr.bin\n");
        return 1;
    }
    fclose(dst_file);

    cudaFree(dev_high);
    cudaFree(dev_low);
    cudaFree(dev_close);
    cudaFree(dev_atr);
    free(h_high);
    free(h_low);
    free(h_close);
    free(h_atr);
    return 0;
}
