#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

#define CHECK_CUDA(call)                                                                    \
    do {                                                                                    \
        cudaError_t status = (call);                                                        \
        if (status != cudaSuccess) {                                                        \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(status)); \
            exit(EXIT_FAILURE);                                                             \
        }                                                                                   \
    } while (0)

#define ASSETS 60
#define DAYS 300
const int WINDOW = 20;
const int OUT_DAYS = DAYS - WINDOW + 1;

__global__ void bollinger(const float* prices, float* percent_b, int* signal) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= ASSETS * OUT_DAYS) return;
    int asset = i / OUT_DAYS;
    int day = i % OUT_DAYS;
    const float* p = prices + asset * DAYS + day;
    float mean = 0.0f;
    for (int k = 0; k < WINDOW; ++k) mean += p[k];
    mean /= WINDOW;
    float variance = 0.0f;
    bool equal = true;
    for (int k = 0; k < WINDOW; ++k) {
        variance += (p[k] - mean) * (p[k] - mean);
        if (p[k] != p[0]) equal = false;
    }
    float s = sqrtf(variance / WINDOW);
    float b = 0.5f;
    if (!equal) b = (p[WINDOW - 1] - (mean - 2.0f * s)) / (4.0f * s);
    percent_b[i] = b;
    signal[i] = b > 1.0f ? 1 : (b < 0.0f ? -1 : 0);
}

int main() {
    float* h_prices = (float*)malloc(sizeof(float) * ASSETS * DAYS);
    float* h_percent_b = (float*)malloc(sizeof(float) * (ASSETS * (DAYS - 19)));
    int* h_signal = (int*)malloc(sizeof(int) * (ASSETS * (DAYS - 19)));

    FILE* f = fopen("data/prices.bin", "rb");
    if (!f || fread(h_prices, sizeof(float), ASSETS * DAYS, f) != (size_t)(ASSETS * DAYS)) {
        fprintf(stderr, "cannot read data/prices.bin\n");
        return 1;
    }
    fclose(f);

    float* dev_prices;
    float* dev_percent_b;
    int* dev_signal;
    CHECK_CUDA(cudaMalloc(&dev_prices, sizeof(float) * ASSETS * DAYS));
    CHECK_CUDA(cudaMalloc(&dev_percent_b, sizeof(float) * (ASSETS * (DAYS - 19))));
    CHECK_CUDA(cudaMalloc(&dev_signal, sizeof(int) * (ASSETS * (DAYS - 19))));
    CHECK_CUDA(cudaMemcpy(dev_prices, h_prices, sizeof(float) * ASSETS * DAYS, cudaMemcpyHostToDevice));

    const int threads = 256;
    bollinger<<<(ASSETS * OUT_DAYS + threads - 1) / threads, threads>>>(dev_prices, dev_percent_b, dev_signal);
    CHECK_CUDA(cudaGetLastError());
    CHECK_CUDA(cudaDeviceSynchronize());

    CHECK_CUDA(cudaMemcpy(h_percent_b, dev_percent_b, sizeof(float) * (ASSETS * (DAYS - 19)),
        cudaMemcpyDeviceToHost));
    CHECK_CUDA(cudaMemcpy(h_signal, dev_signal, sizeof(int) * (ASSETS * (DAYS - 19)), cudaMemcpyDeviceToHost));
    FILE* out = fopen("data/percent_b.bin", "wb");
    if (!out || fwrite(h_percent_b, sizeof(float), ASSETS * (DAYS - 19), out) != (size_t)(ASSETS * (DAYS - 19))) {
        fprintf(stderr, "cannot write data/percent_b.bin\n");
        return 1;
    }
    fclose(out);
    out = fopen("data/signal.bin", "wb");
    if (!out || fwrite(h_signal, sizeof(int), ASSETS * (DAYS - 19), out) != (size_t)(ASSETS * (DAYS - 19))) {
        fprintf(stderr, "cannot write data/signal.bin\n");
        return 1;
    }
    fclose(out);

    cudaFree(dev_prices);
    cudaFree(dev_percent_b);
    cudaFree(dev_signal);
    free(h_prices);
    free(h_percent_b);
    free(h_signal);
    return 0;
}
