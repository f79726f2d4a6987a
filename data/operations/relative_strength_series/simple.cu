#include <cstdio>
#include <cuda_runtime.h>

const int ASSETS = 50;
const int DAYS = 200;
const int WINDOW = 14;

__global__ void rsi_kernel(const float* prices, float* rsi) {
    int a = blockIdx.x * blockDim.x + threadIdx.x;
    if (a >= ASSETS) return;
    const float* p = prices + (size_t)a * DAYS;
    float* out = rsi + (size_t)a * (DAYS - WINDOW);
    float gain = 0.0f, loss = 0.0f;
    for (int t = 1; t < DAYS; ++t) {
        float change = p[t] - p[t - 1];
        float up = fmaxf(change, 0.0f);
        float down = fmaxf(-change, 0.0f);
        if (t <= WINDOW) {
            gain += up / WINDOW;
            loss += down / WINDOW;
        } else {
            gain = ((WINDOW - 1) * gain + up) / WINDOW;
            loss = ((WINDOW - 1) * loss + down) / WINDOW;
        }
        if (t >= WINDOW) {
            float total = gain + loss;
            out[t - WINDOW] = total > 0.0f ? 100.0f * gain / total : 50.0f;
        }
    }
}

int main() {
    float *prices, *rsi;
    cudaMallocManaged(&prices, sizeof(float) * ASSETS * DAYS);
    cudaMallocManaged(&rsi, sizeof(float) * (ASSETS * (DAYS - 14)));

    FILE* f = fopen("data/prices.bin", "rb");
    if (!f || fread(prices, sizeof(float), ASSETS * DAYS, f) != (ASSETS * DAYS)) {
        fprintf(stderr, "cannot read data/prices.bin\n");
        return 1;
    }
    fclose(f);

    int threads = 64;
    rsi_kernel<<<(ASSETS + threads - 1) / threads, threads>>>(prices, rsi);

    cudaError_t err = cudaDeviceSynchronize();
    if (err != cudaSuccess) {
        fprintf(stderr, "%s\n", cudaGetErrorString(err));
        return 1;
    }

    f = fopen("data/rsi.bin", "wb");
    fwrite(rsi, sizeof(float), ASSETS * (DAYS - 14), f);
    fclose(f);

    cudaFree(prices);
    cudaFree(rsi);
    return 0;
}
