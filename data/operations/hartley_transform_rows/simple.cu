#include <cstdio>
#include <cuda_runtime.h>

#define ROWS 100
#define LENGTH 30

__global__ void hartley(const float* x, float* spectrum) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= ROWS * LENGTH) return;
    int k = i % LENGTH;
    const float* row = x + (i - k);
    float sum = 0.0f;
    for (int n = 0; n < LENGTH; ++n) {
        float angle = 6.28318531f * (n * k % LENGTH) / LENGTH;
        sum += row[n] * (cosf(angle) + sinf(angle));
    }
    spectrum[i] = sum;
}

int main() {
    float* x = nullptr;
    float* spectrum = nullptr;
    cudaMallocManaged(&x, sizeof(float) * ROWS * LENGTH);
    cudaMallocManaged(&spectrum, sizeof(float) * ROWS * LENGTH);

    FILE* file_x = fopen("data/x.bin", "rb");
    if (!file_x || fread(x, sizeof(float), ROWS * LENGTH, file_x) != (size_t)(ROWS * LENGTH)) {
        fprintf(stderr, "error reading data/x.bin\n");
        return 1;
    }
    fclose(file_x);

    const int threads = 256;
    hartley<<<(ROWS * LENGTH + 255) / 256, threads>>>(x, spectrum);
    cudaError_t result = cudaDeviceSynchronize();
    if (result != cudaSuccess) {
        fprintf(stderr, "CUDA: %s\n", cudaGetErrorString(result));
        return 1;
    }

    FILE* out = fopen("data/spectrum.bin", "wb");
    if (!out) return 1;
    fwrite(spectrum, sizeof(float), ROWS * LENGTH, out);
    fclose(out);

    cudaFree(x);
    cudaFree(spectrum);
    return 0;
}
