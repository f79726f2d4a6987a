#include <stdio.h>
#include <stdlib.h>
#include <cuda_runtime.h>

#define FRAMES 100
#define BINS 129

#define CK(x)                                                                               \
    if ((x) != cudaSuccess) {                                                               \
        fprintf(stderr, "line %d: %s\n", __LINE__, cudaGetErrorString(cudaGetLastError())); \
        exit(1);                                                                            \
    }

static void readInput(const char* path, void* dst, size_t bytes) {
    FILE* f = fopen(path, "rb");
    if (!f || fread(dst, 1, bytes, f) != bytes) {
        fprintf(stderr, "error reading %s\n", path);
        exit(1);
    }
    fclose(f);
}

static void writeOutput(const char* path, const void* src, size_t bytes) {
    FILE* f = fopen(path, "wb");
    if (!f || fwrite(src, 1, bytes, f) != bytes) {
        fprintf(stderr, "cannot write %s\n", path);
        exit(1);
    }
    fclose(f);
}

const int WARPS = 4;

__device__ float warp_sum(float v) {
    for (int s = 16; s > 0; s >>= 1) v += __shfl_xor_sync(0xffffffffu, v, s);
    return v;
}

__global__ void centroid_spread(const float* __restrict__ magnitude, float* centroid, float* spread) {
    int f = blockIdx.x * WARPS + threadIdx.y;
    if (f >= FRAMES) return;
    const float* m = magnitude + (size_t)f * BINS;
    float total = 0.0f, moment = 0.0f;
    for (int b = threadIdx.x; b < BINS; b += 32) {
        float v = m[b];
        total += v;
        moment = fmaf((float)b, v, moment);
    }
    total = warp_sum(total);
    moment = warp_sum(moment);
    float scale = total > 0.0f ? 1.0f / total : 0.0f;
    float centre = moment * scale;
    float second = 0.0f;
    for (int b = threadIdx.x; b < BINS; b += 32) {
        float d = b - centre;
        second = fmaf(d * d, m[b], second);
    }
    second = warp_sum(second);
    if (threadIdx.x == 0) {
        centroid[f] = centre;
        spread[f] = sqrtf(second * scale);
    }
}

int main() {
    const size_t num_magnitude = FRAMES * BINS;
    float *magnitude = (float*)malloc(num_magnitude * sizeof(float));
    float *centroid = (float*)malloc(FRAMES * sizeof(float));
    float *spread = (float*)malloc(FRAMES * sizeof(float));

    readInput("data/magnitude.bin", magnitude, num_magnitude * sizeof(float));

    float *d_magnitude;
    float *d_centroid;
    float *d_spread;
    CK(cudaMalloc(&d_magnitude, num_magnitude * sizeof(float)));
    CK(cudaMalloc(&d_centroid, FRAMES * sizeof(float)));
    CK(cudaMalloc(&d_spread, FRAMES * sizeof(float)));
    CK(cudaMemcpy(d_magnitude, magnitude, num_magnitude * sizeof(float), cudaMemcpyHostToDevice));

    centroid_spread<<<(FRAMES + WARPS - 1) / WARPS, dim3(32, WARPS)>>>(d_magnitude, d_centroid, d_spread);
    CK(cudaGetLastError());
    CK(cudaDeviceSynchronize());

    CK(cudaMemcpy(centroid, d_centroid, FRAMES * sizeof(float), cudaMemcpyDeviceToHost));
    CK(cudaMemcpy(spread, d_spread, FRAMES * sizeof(float), cudaMemcpyDeviceToHost));
    writeOutput("data/centroid.bin", centroid, FRAMES * sizeof(float));
    writeOutput("data/spread.bin", spread, FRAMES * sizeof(float));

    cudaFree(d_magnitude);
    cudaFree(d_centroid);
    cudaFree(d_spread);
    free(magnitude);
    free(centroid);
    free(spread);
    return 0;
}
