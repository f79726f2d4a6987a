#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

#define gpuErrchk(expr)                                                                  \
    do {                                                                                 \
        cudaError_t err = (expr);                                                        \
        if (err != cudaSuccess) {                                                        \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(err)); \
            exit(1);                                                                     \
        }                                                                                \
    } while (0)

#define BATCH 4
#define ORDER 64
#define HALF 9
#define DIAGONALS (2 * HALF + 1)

// The zeros come from a memset; only the stored diagonals are visited.
__global__ void scatter_band(const float* __restrict__ bands, float* __restrict__ dense) {
    const int t = blockIdx.x * blockDim.x + threadIdx.x;
    if (t >= BATCH * DIAGONALS * ORDER) return;
    const int j = t % ORDER;
    const int q = t / ORDER;
    const int i = j + q % DIAGONALS - HALF;
    const int b = q / DIAGONALS;
    if (i >= 0 && i < ORDER) dense[((size_t)b * ORDER + i) * ORDER + j] = bands[t];
}

int main() {
    const size_t bandsSize = (size_t)BATCH * (2 * HALF + 1) * ORDER;
    const size_t denseSize = (size_t)BATCH * ORDER * ORDER;
    float* host_bands = (float*)malloc(bandsSize * sizeof(float));
    float* host_dense = (float*)malloc(denseSize * sizeof(float));

    FILE* in = fopen("data/bands.bin", "rb");
    if (!in || fread(host_bands, sizeof(float), bandsSize, in) != bandsSize) {
        fprintf(stderr, "cannot read data/bands.bin\n");
        return 1;
    }
    fclose(in);

    float *d_bands, *d_dense;
    gpuErrchk(cudaMalloc(&d_bands, bandsSize * sizeof(float)));
    gpuErrchk(cudaMalloc(&d_dense, denseSize * sizeof(float)));
    gpuErrchk(cudaMemcpy(d_bands, host_bands, bandsSize * sizeof(float), cudaMemcpyHostToDevice));

    cudaMemset(d_dense, 0, denseSize * sizeof(float));
    const int stored = BATCH * DIAGONALS * ORDER;
    scatter_band<<<(stored + 256 - 1) / 256, 256>>>(d_bands, d_dense);
    gpuErrchk(cudaGetLastError());
    gpuErrchk(cudaDeviceSynchronize());
    gpuErrchk(cudaMemcpy(host_dense, d_dense, denseSize * sizeof(float), cudaMemcpyDeviceToHost));

    FILE* out = fopen("data/dense.bin", "wb");
    if (!out || fwrite(host_dense, sizeof(float), denseSize, out) != denseSize) {
        fprintf(stderr, "cannot write data/dense.bin\n");
        return 1;
    }
    fclose(out);

    cudaFree(d_bands);
    cudaFree(d_dense);
    free(host_bands);
    free(host_dense);
    return 0;
}
