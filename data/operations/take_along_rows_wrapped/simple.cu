#include <cuda_runtime.h>
#include <cstdio>

constexpr int ROWS = 90;
constexpr int COLS = 130;
constexpr int PICKS = 60;

__global__ void take_along(const float* x, const int* indices, float* taken) {
    int c = blockIdx.x * blockDim.x + threadIdx.x;
    int p = blockIdx.y;
    if (c < COLS) {
        int j = indices[p * COLS + c];
        if (j < 0) j += ROWS;
        taken[p * COLS + c] = x[j * COLS + c];
    }
}

int main() {
    const size_t xCount = (size_t)ROWS * COLS;
    const size_t indicesCount = (size_t)PICKS * COLS;
    float *x, *taken;
    int *indices;
    cudaMallocManaged(&x, xCount * sizeof(float));
    cudaMallocManaged(&indices, indicesCount * sizeof(int));
    cudaMallocManaged(&taken, indicesCount * sizeof(float));

    FILE* f = fopen("data/x.bin", "rb");
    if (!f || fread(x, sizeof(float), xCount, f) != xCount) {
        puts("data/x.bin");
        return 1;
    }
    fclose(f);
    f = fopen("data/indices.bin", "rb");
    if (!f || fread(indices, sizeof(int), indicesCount, f) != indicesCount) {
        puts("data/indices.bin");
        return 1;
    }
    fclose(f);

    dim3 grid((COLS + 127) / 128, PICKS);
    take_along<<<grid, 128>>>(x, indices, taken);
    cudaError_t error = cudaDeviceSynchronize();
    if (error != cudaSuccess) {
        fprintf(stderr, "kernel failed: %s\n", cudaGetErrorString(error));
        return 1;
    }

    f = fopen("data/taken.bin", "wb");
    fwrite(taken, sizeof(float), indicesCount, f);
    fclose(f);
    cudaFree(x);
    cudaFree(indices);
    cudaFree(taken);
    return 0;
}
