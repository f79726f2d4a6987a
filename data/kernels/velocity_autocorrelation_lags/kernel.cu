#include <cuda_runtime.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>

static void check(cudaError_t status, const char* what) {
    if (status == cudaSuccess) return;
    fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(status));
    exit(1);
}

static void readFile(const char* path, void* target, size_t bytes) {
    FILE* file = fopen(path, "rb");
    const bool good = file && fread(target, 1, bytes, file) == bytes && fgetc(file) == EOF;
    if (!good) {
        fprintf(stderr, "%s: expected %zu bytes\n", path, bytes);
        exit(1);
    }
    fclose(file);
}

constexpr int THREADS = 256, PIECES = 32;

__device__ double blockSum(double value) {
    __shared__ double warps[THREADS / 32];
    for (int step = 16; step > 0; step /= 2) value += __shfl_down_sync(0xffffffffu, value, step);
    if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = value;
    __syncthreads();
    double sum = 0.0;
    for (int w = 0; w < THREADS / 32; ++w) sum += warps[w];
    return sum;
}

// Block (piece, lag) adds its part of the products of all frames with those `lag` frames later.
__global__ void correlate(const float* __restrict__ velocities, double* __restrict__ partial, int frames,
                          long long perFrame) {
    const int lag = blockIdx.y;
    const long long count = (frames - lag) * perFrame, shift = lag * perFrame;
    double sum = 0.0;
    const long long stride = static_cast<long long>(gridDim.x) * THREADS;
    for (long long i = static_cast<long long>(blockIdx.x) * THREADS + threadIdx.x; i < count; i += stride) {
        sum += static_cast<double>(velocities[i]) * velocities[i + shift];
    }
    sum = blockSum(sum);
    if (threadIdx.x == 0) partial[lag * PIECES + blockIdx.x] = sum;
}

__global__ void finish(const double* __restrict__ partial, double* __restrict__ correlation, int frames, int particles,
                       int lags) {
    const int lag = blockIdx.x * THREADS + threadIdx.x;
    if (lag >= lags) return;
    double sum = 0.0;
    for (int piece = 0; piece < PIECES; ++piece) sum += partial[lag * PIECES + piece];
    correlation[lag] = sum / (static_cast<double>(frames - lag) * particles);
}

int main() {
    int sizes[3];
    readFile("data/sizes.bin", sizes, sizeof sizes);
    const int frames = sizes[0], particles = sizes[1], lags = sizes[2];
    if (frames < 1 || frames > 4096 || particles < 1 || particles > 20000 || lags < 1 || lags > frames) {
        fprintf(stderr, "data/sizes.bin: out of range\n");
        return 1;
    }
    const size_t count = 3 * static_cast<size_t>(frames) * particles;
    std::vector<float> velocities(count);
    readFile("data/velocities.bin", velocities.data(), count * sizeof(float));
    float* dVelocities;
    double* dCorrelation;
    check(cudaMalloc(&dVelocities, count * sizeof(float)), "cudaMalloc");
    check(cudaMalloc(&dCorrelation, lags * sizeof(double)), "cudaMalloc");
    check(cudaMemcpy(dVelocities, velocities.data(), count * sizeof(float), cudaMemcpyHostToDevice), "upload");
    double* dPartial;
    check(cudaMalloc(&dPartial, static_cast<size_t>(lags) * PIECES * sizeof(double)), "cudaMalloc");
    correlate<<<dim3(PIECES, lags), THREADS>>>(dVelocities, dPartial, frames, 3LL * particles);
    finish<<<(lags + THREADS - 1) / THREADS, THREADS>>>(dPartial, dCorrelation, frames, particles, lags);
    check(cudaGetLastError(), "launch");
    check(cudaFree(dPartial), "cudaFree");
    std::vector<double> correlation(lags);
    check(cudaMemcpy(correlation.data(), dCorrelation, lags * sizeof(double), cudaMemcpyDeviceToHost), "download");
    check(cudaFree(dVelocities), "cudaFree");
    check(cudaFree(dCorrelation), "cudaFree");
    FILE* file = fopen("data/correlation.bin", "wb");
    if (!file || fwrite(correlation.data(), sizeof(double), lags, file) != correlation.size()) return 1;
    return fclose(file) == 0 ? 0 : 1;
}
