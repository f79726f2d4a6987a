#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

#define SAFE(call) \
    do { \
        cudaError_t err = call; \
        if (err != cudaSuccess) { \
            fprintf(stderr, "CUDA error at line %d: %s\n", __LINE__, cudaGetErrorString(err)); \
            return 1; \
        } \
    } while (0)

#define ROWS 30
#define WIDTH 333

__global__ void gated_gauss(const float* u, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        float gate = u[2 * i];
        float value = u[2 * i + 1];
        float phi = 0.5f * (1.0f + erff(gate * 0.70710678f));
        y[i] = value * gate * phi;
    }
}

int main() {
    const int n = ROWS * WIDTH;
    const int u_size = ROWS * (WIDTH * 2);
    float* h_u = (float*)malloc(u_size * sizeof(float));
    float* h_y = (float*)malloc(n * sizeof(float));

    FILE* file = fopen("data/u.bin", "rb");
    if (!file || fread(h_u, sizeof(float), u_size, file) != (size_t)u_size) {
        fprintf(stderr, "cannot read data/u.bin\n");
        return 1;
    }
    fclose(file);

    float *d_u, *d_y;
    SAFE(cudaMalloc(&d_u, u_size * sizeof(float)));
    SAFE(cudaMalloc(&d_y, n * sizeof(float)));
    SAFE(cudaMemcpy(d_u, h_u, u_size * sizeof(float), cudaMemcpyHostToDevice));

    int threads = 256;
    int blocks = (n + threads - 1) / threads;
    gated_gauss<<<blocks, threads>>>(d_u, d_y, n);
    SAFE(cudaGetLastError());
    SAFE(cudaMemcpy(h_y, d_y, n * sizeof(float), cudaMemcpyDeviceToHost));

    file = fopen("data/y.bin", "wb");
    if (!file || fwrite(h_y, sizeof(float), n, file) != (size_t)n) {
        fprintf(stderr, "cannot write data/y.bin\n");
        return 1;
    }
    fclose(file);

    cudaFree(d_y);
    cudaFree(d_u);
    free(h_u);
    free(h_y);
    return 0;
}
