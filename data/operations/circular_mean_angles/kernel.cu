#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

#define CHECK(call) \
    do { \
        cudaError_t e = (call); \
        if (e != cudaSuccess) { \
            fprintf(stderr, "CUDA: %s (%s:%d)\n", cudaGetErrorString(e), __FILE__, __LINE__); \
            exit(EXIT_FAILURE); \
        } \
    } while (0)

#define ROWS 50
#define COLS 360
#define WARPS 4

__global__ void circular_mean_warp(const float* __restrict__ angle, float* __restrict__ direction,
                                   float* __restrict__ resultant) {
    int r = blockIdx.x * WARPS + threadIdx.y;
    if (r >= ROWS) return;
    const float* row = angle + (size_t)r * COLS;
    float2 sum = make_float2(0.0f, 0.0f);
    for (int i = threadIdx.x; i < COLS; i += 32) {
        float s, c;
        sincosf(row[i], &s, &c);
        sum.x += c;
        sum.y += s;
    }
    for (int h = 16; h > 0; h >>= 1) {
        sum.x += __shfl_xor_sync(0xffffffffu, sum.x, h);
        sum.y += __shfl_xor_sync(0xffffffffu, sum.y, h);
    }
    if (threadIdx.x == 0) {
        direction[r] = atan2f(sum.y, sum.x);
        resultant[r] = hypotf(sum.x, sum.y) / COLS;
    }
}

int main() {
    const int count = ROWS * COLS;
    float* h_angle = (float*)malloc(count * sizeof(float));
    float* h_direction = (float*)malloc(ROWS * sizeof(float));
    float* h_resultant = (float*)malloc(ROWS * sizeof(float));
    FILE* in = fopen("data/angle.bin", "rb");
    if (!in || fread(h_angle, sizeof(float), count, in) != (size_t)count) {
        fprintf(stderr, "cannot read data/angle.bin\n");
        return 1;
    }
    fclose(in);

    float *dev_angle, *dev_direction, *dev_resultant;
    CHECK(cudaMalloc(&dev_angle, count * sizeof(float)));
    CHECK(cudaMalloc(&dev_direction, ROWS * sizeof(float)));
    CHECK(cudaMalloc(&dev_resultant, ROWS * sizeof(float)));
    CHECK(cudaMemcpy(dev_angle, h_angle, count * sizeof(float), cudaMemcpyHostToDevice));

    dim3 threads(32, WARPS);
    circular_mean_warp<<<(ROWS + WARPS - 1) / WARPS, threads>>>(dev_angle, dev_direction, dev_resultant);
    CHECK(cudaGetLastError());
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaMemcpy(h_direction, dev_direction, ROWS * sizeof(float), cudaMemcpyDeviceToHost));
    CHECK(cudaMemcpy(h_resultant, dev_resultant, ROWS * sizeof(float), cudaMemcpyDeviceToHost));

    FILE* fo_direction = fopen("data/direction.bin", "wb");
    if (!fo_direction || fwrite(h_direction, sizeof(float), ROWS, fo_direction) != (size_t)ROWS) {
        fprintf(stderr, "cannot write data/direction.bin\n");
        return 1;
    }
    fclose(fo_direction);
    FILE* fo_resultant = fopen("data/resultant.bin", "wb");
    if (!fo_resultant || fwrite(h_resultant, sizeof(float), ROWS, fo_resultant) != (size_t)ROWS) {
        fprintf(stderr, "cannot write data/resultant.bin\n");
        return 1;
    }
    fclose(fo_resultant);

    cudaFree(dev_angle);
    cudaFree(dev_direction);
    cudaFree(dev_resultant);
    free(h_angle);
    free(h_direction);
    free(h_resultant);
    return 0;
}
