#include <cuda_runtime.h>
#include <cstdio>

constexpr int kNames = 600;
constexpr int kQuarters = 20;

__global__ void fair_spread(const float* hazard, const float* discount, const float* recovery, float* spread,
                            float* survival) {
    int n = blockIdx.x * blockDim.x + threadIdx.x;
    if (n >= kNames) return;
    float q = 1.0f, premium = 0.0f, loss = 0.0f;
    for (int k = 0; k < kQuarters; k++) {
        float next = q * expf(-0.25f * hazard[(size_t)n * kQuarters + k]);
        premium += 0.25f * discount[k] * 0.5f * (q + next);
        loss += discount[k] * (q - next);
        q = next;
    }
    spread[n] = 10000.0f * (1.0f - recovery[n]) * loss / premium;
    survival[n] = q;
}

int main() {
    const size_t count = (size_t)kNames * kQuarters;
    float* hazard;
    float* discount;
    float* recovery;
    float* spread;
    float* survival;
    cudaMallocManaged(&hazard, count * sizeof(float));
    cudaMallocManaged(&discount, kQuarters * sizeof(float));
    cudaMallocManaged(&recovery, kNames * sizeof(float));
    cudaMallocManaged(&spread, kNames * sizeof(float));
    cudaMallocManaged(&survival, kNames * sizeof(float));

    FILE* file = fopen("data/hazard.bin", "rb");
    if (!file || fread(hazard, sizeof(float), count, file) != count) {
        puts("data/hazard.bin");
        return 1;
    }
    fclose(file);
    file = fopen("data/discount.bin", "rb");
    if (!file || fread(discount, sizeof(float), kQuarters, file) != kQuarters) {
        puts("data/discount.bin");
        return 1;
    }
    fclose(file);
    file = fopen("data/recovery.bin", "rb");
    if (!file || fread(recovery, sizeof(float), kNames, file) != kNames) {
        puts("data/recovery.bin");
        return 1;
    }
    fclose(file);

    fair_spread<<<(kNames + 128 - 1) / 128, 128>>>(hazard, discount, recovery, spread, survival);
    if (cudaDeviceSynchronize() != cudaSuccess) {
        fprintf(stderr, "kernel failed\n");
        return 1;
    }

    file = fopen("data/spread.bin", "wb");
    fwrite(spread, sizeof(float), kNames, file);
    fclose(file);
    file = fopen("data/survival.bin", "wb");
    fwrite(survival, sizeof(float), kNames, file);
    fclose(file);
    cudaFree(hazard);
    cudaFree(discount);
    cudaFree(recovery);
    cudaFree(spread);
    cudaFree(survival);
    return 0;
}
