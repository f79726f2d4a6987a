#include <cfloat>
#include <cstdio>
#include <cstdlib>
#include <vector>
#include <cuda_runtime.h>

inline void cuda_ok(cudaError_t status, const char* what) {
    if (status != cudaSuccess) {
        fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(status));
        exit(1);
    }
}

static bool read_raw(const char* path, void* data, size_t bytes) {
    FILE* f = fopen(path, "rb");
    if (!f) return false;
    bool ok = fread(data, 1, bytes, f) == bytes;
    fclose(f);
    return ok;
}

static bool write_raw(const char* path, const void* data, size_t bytes) {
    FILE* f = fopen(path, "wb");
    if (!f) return false;
    bool ok = fwrite(data, 1, bytes, f) == bytes;
    fclose(f);
    return ok;
}

constexpr int kRows = 48;
constexpr int kCols = 300;
constexpr int kWarps = 4;

// A warp scans its row in pieces of 32 columns; the last lane's result is carried into the next piece.
__global__ void running_maximum_warp(const float* __restrict__ x, float* __restrict__ peak, int* __restrict__ at) {
    int r = blockIdx.x * kWarps + threadIdx.x / 32;
    if (r >= kRows) return;
    int lane = threadIdx.x % 32;
    size_t base = (size_t)r * kCols;
    float carry = -FLT_MAX;
    int carryAt = 0;
    for (int start = 0; start < kCols; start += 32) {
        int c = start + lane;
        float best = c < kCols ? x[base + c] : -FLT_MAX;
        int where = c;
        for (int s = 1; s < 32; s *= 2) {
            float v = __shfl_up_sync(0xffffffffu, best, s);
            int w = __shfl_up_sync(0xffffffffu, where, s);
            if (lane >= s && v >= best) {
                best = v;
                where = w;
            }
        }
        if (carry >= best) {
            best = carry;
            where = carryAt;
        }
        if (c < kCols) {
            peak[base + c] = best;
            at[base + c] = where;
        }
        carry = __shfl_sync(0xffffffffu, best, 31);
        carryAt = __shfl_sync(0xffffffffu, where, 31);
    }
}

int main() {
    std::vector<float> x(kRows * kCols);
    std::vector<float> peak(kRows * kCols);
    std::vector<int> at(kRows * kCols);
    if (!read_raw("data/x.bin", x.data(), kRows * kCols * sizeof(float))) {
        fprintf(stderr, "cannot read data/x.bin\n");
        return 1;
    }

    float *dev_x, *dev_peak;
    int* dev_at;
    cuda_ok(cudaMalloc(&dev_x, kRows * kCols * sizeof(float)), "allocate");
    cuda_ok(cudaMalloc(&dev_peak, kRows * kCols * sizeof(float)), "allocate");
    cuda_ok(cudaMalloc(&dev_at, kRows * kCols * sizeof(int)), "allocate");
    cuda_ok(cudaMemcpy(dev_x, x.data(), kRows * kCols * sizeof(float), cudaMemcpyHostToDevice), "copy");

    running_maximum_warp<<<(kRows + kWarps - 1) / kWarps, 32 * kWarps>>>(dev_x, dev_peak, dev_at);
    cuda_ok(cudaGetLastError(), "launch");
    cuda_ok(cudaMemcpy(peak.data(), dev_peak, kRows * kCols * sizeof(float), cudaMemcpyDeviceToHost), "copy");
    cuda_ok(cudaMemcpy(at.data(), dev_at, kRows * kCols * sizeof(int), cudaMemcpyDeviceToHost), "copy");

    if (!write_raw("data/peak.bin", peak.data(), kRows * kCols * sizeof(float))) {
        fprintf(stderr, "cannot write data/peak.bin\n");
        return 1;
    }
    if (!write_raw("data/at.bin", at.data(), kRows * kCols * sizeof(int))) {
        fprintf(stderr, "cannot write data/at.bin\n");
        return 1;
    }
    cudaFree(dev_x);
    cudaFree(dev_peak);
    cudaFree(dev_at);
    return 0;
}
