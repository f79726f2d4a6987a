#include <cuda_runtime.h>
#include <cstdio>
#include <cstdlib>

#define ROWS 30
#define COLS 900
#define WARPS 4

#define CUDA_CHECK(call) \
    do { \
        cudaError_t code = (call); \
        if (code != cudaSuccess) { \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(code)); \
            exit(1); \
        } \
    } while (0)

__device__ float warp_sum(float v) {
    for (int s = 16; s > 0; s >>= 1) v += __shfl_xor_sync(0xffffffffu, v, s);
    return v;
}

__global__ void shape_statistics_warp(const float* __restrict__ x, float* __restrict__ skew,
    float* __restrict__ kurt) {
    int r = blockIdx.x * WARPS + threadIdx.y;
    if (r >= ROWS) return;
    const float* row = x + (size_t)r * COLS;
    int lane = threadIdx.x;
    float sum = 0.0f;
    for (int c = lane; c < COLS; c += 32) sum += row[c];
    float mean = warp_sum(sum) / COLS;
    float s2 = 0.0f, s3 = 0.0f, s4 = 0.0f;
    for (int c = lane; c < COLS; c += 32) {
        float d = row[c] - mean;
        float d2 = d * d;
        s2 += d2;
        s3 = fmaf(d2, d, s3);
        s4 = fmaf(d2, d2, s4);
    }
    float m2 = warp_sum(s2) / COLS;
    float m3 = warp_sum(s3) / COLS;
    float m4 = warp_sum(s4) / COLS;
    if (lane == 0) {
        skew[r] = m3 / (m2 * sqrtf(m2));
        kurt[r] = m4 / (m2 * m2) - 3.0f;
    }
}

int main() {
    const int size = ROWS * COLS;
    float* x = (float*)malloc(size * sizeof(float));
    float* skew = (float*)malloc(ROWS * sizeof(float));
    float* kurt = (float*)malloc(ROWS * sizeof(float));
    FILE* in = fopen("data/x.bin", "rb");
    if (!in || fread(x, sizeof(float), size, in) != (size_t)size) {
        fprintf(stderr, "cannot read data/x.bin\n");
        return 1;
    }
    fclose(in);

    float* d_x;
    float* d_skew;
    float* d_kurt;
    CUDA_CHECK(cudaMalloc(&d_x, size * sizeof(float)));
    CUDA_CHECK(cudaMalloc(&d_skew, ROWS * sizeof(float)));
    CUDA_CHECK(cudaMalloc(&d_kurt, ROWS * sizeof(float)));
    CUDA_CHECK(cudaMemcpy(d_x, x, size * sizeof(float), cudaMemcpyHostToDevice));

    shape_statistics_warp<<<(ROWS + WARPS - 1) / WARPS, dim3(32, WARPS)>>>(d_x, d_skew, d_kurt);
    CUDA_CHECK(cudaGetLastError());
    CUDA_CHECK(cudaDeviceSynchronize());
    CUDA_CHECK(cudaMemcpy(skew, d_skew, ROWS * sizeof(float), cudaMemcpyDeviceToHost));
    CUDA_CHECK(cudaMemcpy(kurt, d_kurt, ROWS * sizeof(float), cudaMemcpyDeviceToHost));

    FILE* fo_skew = fopen("data/skew.bin", "wb");
    if (!fo_skew || fwrite(skew, sizeof(float), ROWS, fo_skew) != (size_t)ROWS) {
        fprintf(stderr, "cannot write data/skew.bin\n");
        return 1;
    }
    fclose(fo_skew);
    FILE* fo_kurt = fopen("data/kurt.bin", "wb");
    if (!fo_kurt || fwrite(kurt, sizeof(float), ROWS, fo_kurt) != (size_t)ROWS) {
        fprintf(stderr, "cannot write data/kurt.bin\n");
        return 1;
    }
    fclose(fo_kurt);

    cudaFree(d_x);
    cudaFree(d_skew);
    cudaFree(d_kurt);
    free(x);
    free(skew);
    free(kurt);
    return 0;
}
