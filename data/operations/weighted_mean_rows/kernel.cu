#include <cstdio>
#include <cstdlib>
#include <vector>
#include <cuda_runtime.h>

inline void checkCuda(cudaError_t status, const char* what) {
    if (status != cudaSuccess) {
        fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(status));
        exit(1);
    }
}

static bool loadBytes(const char* path, void* data, size_t bytes) {
    FILE* f = fopen(path, "rb");
    if (!f) return false;
    bool ok = fread(data, 1, bytes, f) == bytes;
    fclose(f);
    return ok;
}

static bool saveBytes(const char* path, const void* data, size_t bytes) {
    FILE* f = fopen(path, "wb");
    if (!f) return false;
    bool ok = fwrite(data, 1, bytes, f) == bytes;
    fclose(f);
    return ok;
}

constexpr int kRows = 24;
constexpr int kCols = 500;
constexpr int kWarps = 8;

// One warp per row, eight rows per block.
__global__ void weighted_mean_warp(const float* __restrict__ x, const float* __restrict__ w,
    float* __restrict__ mean) {
    int row = blockIdx.x * kWarps + threadIdx.x / 32;
    int lane = threadIdx.x % 32;
    if (row >= kRows) return;
    const float* xr = x + (size_t)row * kCols;
    const float* wr = w + (size_t)row * kCols;
    float a = 0.0f, b = 0.0f;
    for (int c = lane; c < kCols; c += 32) {
        float weight = wr[c];
        a = fmaf(weight, xr[c], a);
        b += weight;
    }
    for (int s = 16; s > 0; s /= 2) {
        a += __shfl_down_sync(0xffffffffu, a, s);
        b += __shfl_down_sync(0xffffffffu, b, s);
    }
    if (lane == 0) mean[row] = b > 0.0f ? a / b : 0.0f;
}

int main() {
    const size_t numel = (size_t)kRows * kCols;
    std::vector<float> host_x(numel);
    std::vector<float> host_w(numel);
    std::vector<float> host_mean(kRows);
    if (!loadBytes("data/x.bin", host_x.data(), numel * sizeof(float))) {
        fprintf(stderr, "cannot read data/x.bin\n");
        return 1;
    }
    if (!loadBytes("data/w.bin", host_w.data(), numel * sizeof(float))) {
        fprintf(stderr, "cannot read data/w.bin\n");
        return 1;
    }

    float *d_x, *d_w, *d_mean;
    checkCuda(cudaMalloc(&d_x, numel * sizeof(float)), "allocate");
    checkCuda(cudaMalloc(&d_w, numel * sizeof(float)), "allocate");
    checkCuda(cudaMalloc(&d_mean, kRows * sizeof(float)), "allocate");
    checkCuda(cudaMemcpy(d_x, host_x.data(), numel * sizeof(float), cudaMemcpyHostToDevice), "copy");
    checkCuda(cudaMemcpy(d_w, host_w.data(), numel * sizeof(float), cudaMemcpyHostToDevice), "copy");

    weighted_mean_warp<<<(kRows + kWarps - 1) / kWarps, 32 * kWarps>>>(d_x, d_w, d_mean);
    checkCuda(cudaGetLastError(), "launch");
    checkCuda(cudaMemcpy(host_mean.data(), d_mean, kRows * sizeof(float), cudaMemcpyDeviceToHost), "copy");

    if (!saveBytes("data/mean.bin", host_mean.data(), kRows * sizeof(float))) {
        fprintf(stderr, "cannot write data/mean.bin\n");
        return 1;
    }
    cudaFree(d_x);
    cudaFree(d_w);
    cudaFree(d_mean);
    return 0;
}
