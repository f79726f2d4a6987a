#include <cstdio>
#include <cuda_runtime.h>

constexpr int COUNT_D = 90;
constexpr int DIM = 128;

#define BLOCK 128

__global__ void power_normalize(const float* in, float* out) {
    __shared__ float sums[BLOCK];
    const float* row = in + (size_t)blockIdx.x * DIM;
    float acc = 0.0f;
    for (int j = threadIdx.x; j < DIM; j += BLOCK) acc += fabsf(row[j]);
    sums[threadIdx.x] = acc;
    __syncthreads();
    for (int half = BLOCK / 2; half > 0; half /= 2) {
        if (threadIdx.x < half) sums[threadIdx.x] += sums[threadIdx.x + half];
        __syncthreads();
    }
    float norm = sqrtf(sums[0]);
    for (int j = threadIdx.x; j < DIM; j += BLOCK) {
        float v = row[j];
        float root = copysignf(sqrtf(fabsf(v)), v);
        out[(size_t)blockIdx.x * DIM + j] = norm > 0.0f ? root / norm : 0.0f;
    }
}

int main() {
    const size_t elements = COUNT_D * DIM;
    float* descriptors;
    float* normalized;
    cudaMallocManaged(&descriptors, elements * sizeof(float));
    cudaMallocManaged(&normalized, elements * sizeof(float));

    FILE* f_descriptors = fopen("data/descriptors.bin", "rb");
    if (!f_descriptors || fread(descriptors, sizeof(float), elements, f_descriptors) != elements) {
        fprintf(stderr, "cannot read data/descriptors.bin\n");
        return 1;
    }
    fclose(f_descriptors);

    power_normalize<<<COUNT_D, BLOCK>>>(descriptors, normalized);
    cudaError_t err = cudaDeviceSynchronize();
    if (err != cudaSuccess) {
        fprintf(stderr, "%s\n", cudaGetErrorString(err));
        return 1;
    }

    FILE* f_normalized = fopen("data/normalized.bin", "wb");
    if (!f_normalized || fwrite(normalized, sizeof(float), elements, f_normalized) != elements) return 1;
    fclose(f_normalized);

    cudaFree(descriptors);
    cudaFree(normalized);
    return 0;
}
