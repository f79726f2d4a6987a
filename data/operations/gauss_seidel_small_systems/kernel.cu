#include <stdio.h>
#include <stdlib.h>
#include <cuda_runtime.h>

#define gpuErrchk(call) \
    do { \
        cudaError_t status = call; \
        if (status != cudaSuccess) { \
            fprintf(stderr, "%s:%d %s\n", __FILE__, __LINE__, cudaGetErrorString(status)); \
            exit(EXIT_FAILURE); \
        } \
    } while (0)

#define BATCH 100
#define N 16
#define WARPS 2

// A warp works on one system. Its matrix is staged in shared memory and every row sum is a warp reduction.
__global__ void gauss_seidel_warps(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ x) {
    __shared__ float matrix[WARPS][N * N];
    __shared__ float solution[WARPS][N];
    const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    const int s = blockIdx.x * WARPS + warp;
    if (s >= BATCH) return;
    float* m = matrix[warp];
    float* v = solution[warp];
    for (int e = lane; e < N * N; e += 32) m[e] = a[(size_t)s * N * N + e];
    for (int i = lane; i < N; i += 32) v[i] = 0.0f;
    __syncwarp();
    for (int step = 0; step < 3 * N; ++step) {
        const int i = step % N;
        float sum = 0.0f;
        for (int j = lane; j < N; j += 32) {
            if (j != i) sum = fmaf(m[i * N + j], v[j], sum);
        }
        for (int d = 16; d > 0; d >>= 1) sum += __shfl_xor_sync(0xffffffffu, sum, d);
        if (lane == 0) v[i] = (b[s * N + i] - sum) / m[i * N + i];
        __syncwarp();
    }
    for (int i = lane; i < N; i += 32) x[s * N + i] = v[i];
}

static void load_data(const char* path, void* dst, size_t bytes) {
    FILE* f = fopen(path, "rb");
    if (!f || fread(dst, 1, bytes, f) != bytes) {
        fprintf(stderr, "cannot read %s\n", path);
        exit(1);
    }
    fclose(f);
}

static void store_data(const char* path, const void* src, size_t bytes) {
    FILE* f = fopen(path, "wb");
    if (!f || fwrite(src, 1, bytes, f) != bytes) {
        fprintf(stderr, "cannot write %s\n", path);
        exit(1);
    }
    fclose(f);
}

int main() {
    const size_t count_a = (size_t)BATCH * N * N;
    const size_t count_b = (size_t)BATCH * N;
    float* a = (float*)malloc(count_a * sizeof(float));
    float* b = (float*)malloc(count_b * sizeof(float));
    float* x = (float*)malloc(count_b * sizeof(float));

    load_data("data/a.bin", a, count_a * sizeof(float));
    load_data("data/b.bin", b, count_b * sizeof(float));

    float *d_a, *d_b, *d_x;
    gpuErrchk(cudaMalloc(&d_a, count_a * sizeof(float)));
    gpuErrchk(cudaMalloc(&d_b, count_b * sizeof(float)));
    gpuErrchk(cudaMalloc(&d_x, count_b * sizeof(float)));
    gpuErrchk(cudaMemcpy(d_a, a, count_a * sizeof(float), cudaMemcpyHostToDevice));
    gpuErrchk(cudaMemcpy(d_b, b, count_b * sizeof(float), cudaMemcpyHostToDevice));
    gauss_seidel_warps<<<(BATCH + WARPS - 1) / WARPS, WARPS * 32>>>(d_a, d_b, d_x);
    gpuErrchk(cudaGetLastError());
    gpuErrchk(cudaDeviceSynchronize());

    gpuErrchk(cudaMemcpy(x, d_x, count_b * sizeof(float), cudaMemcpyDeviceToHost));
    store_data("data/x.bin", x, count_b * sizeof(float));

    cudaFree(d_a);
    cudaFree(d_b);
    cudaFree(d_x);
    free(a);
    free(b);
    free(x);
    return 0;
}
