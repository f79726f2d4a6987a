#include <cuda_runtime.h>
#include <cstdio>

const int BATCH = 4;
const int STEPS = 50;
const int FEATURES = 120;

__global__ void harmonic_mean(const float* x, float* hmean) {
    int f = blockIdx.x * blockDim.x + threadIdx.x;
    int b = blockIdx.y;
    if (f >= FEATURES) return;
    float sum = 0.0f;
    bool has_zero = false;
    for (int s = 0; s < STEPS; ++s) {
        float v = x[((size_t)b * STEPS + s) * FEATURES + f];
        if (v == 0.0f) has_zero = true;
        else sum += 1.0f / v;
    }
    hmean[b * FEATURES + f] = has_zero ? 0.0f : STEPS / sum;
}

int main() {
    const size_t x_count = (size_t)BATCH * STEPS * FEATURES;
    const size_t hmean_count = (size_t)BATCH * FEATURES;
    float* x;
    float* hmean;
    cudaMallocManaged(&x, x_count * sizeof(float));
    cudaMallocManaged(&hmean, hmean_count * sizeof(float));

    FILE* fp = fopen("data/x.bin", "rb");
    if (!fp || fread(x, sizeof(float), x_count, fp) != x_count) {
        fprintf(stderr, "data/x.bin missing or short\n");
        return 1;
    }
    fclose(fp);

    dim3 block(128);
    dim3 grid((FEATURES - 1) / 128 + 1, BATCH);
    harmonic_mean<<<grid, block>>>(x, hmean);
    cudaError_t err = cudaDeviceSynchronize();
    if (err != cudaSuccess) {
        fprintf(stderr, "%s\n", cudaGetErrorString(err));
        return 1;
    }

    FILE* fo = fopen("data/hmean.bin", "wb");
    fwrite(hmean, sizeof(float), hmean_count, fo);
    fclose(fo);

    cudaFree(x);
    cudaFree(hmean);
    return 0;
}
