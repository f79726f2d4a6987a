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

constexpr int kRows = 50;
constexpr int kCols = 400;
constexpr int kWarps = 4;

// Warp scan over pairs (m, s) that stand for s * exp(m).
__global__ void running_logsumexp_warp(const float* __restrict__ x, float* __restrict__ y) {
    int r = blockIdx.x * kWarps + threadIdx.x / 32;
    if (r >= kRows) return;
    int lane = threadIdx.x % 32;
    size_t base = (size_t)r * kCols;
    float carryM = -1e30f, carryS = 0.0f;
    for (int start = 0; start < kCols; start += 32) {
        int c = start + lane;
        float m = c < kCols ? x[base + c] : -1e30f;
        float s = c < kCols ? 1.0f : 0.0f;
        for (int d = 1; d < 32; d *= 2) {
            float m2 = __shfl_up_sync(0xffffffffu, m, d);
            float s2 = __shfl_up_sync(0xffffffffu, s, d);
            if (lane >= d) {
                float top = fmaxf(m, m2);
                s = s * expf(m - top) + s2 * expf(m2 - top);
                m = top;
            }
        }
        float top = fmaxf(m, carryM);
        s = s * expf(m - top) + carryS * expf(carryM - top);
        if (c < kCols) y[base + c] = top + logf(s);
        carryM = __shfl_sync(0xffffffffu, top, 31);
        carryS = __shfl_sync(0xffffffffu, s, 31);
    }
}

int main() {
    const size_t total = (size_t)kRows * kCols;
    std::vector<float> h_x(total);
    std::vector<float> h_y(total);
    if (!read_raw("data/x.bin", h_x.data(), total * sizeof(float))) {
        fprintf(stderr, "cannot read data/x.bin\n");
        return 1;
    }

    float *dev_x, *dev_y;
    checkCuda(cudaMalloc(&dev_x, total * sizeof(float)), "allocate");
    checkCuda(cudaMalloc(&dev_y, total * sizeof(float)), "allocate");
    checkCuda(cudaMemcpy(dev_x, h_x.data(), total * sizeof(float), cudaMemcpyHostToDevice), "copy");

    running_logsumexp_warp<<<(kRows + kWarps - 1) / kWarps, 32 * kWarps>>>(dev_x, dev_y);
    checkCuda(cudaGetLastError(), "launch");
    checkCuda(cudaMemcpy(h_y.data(), dev_y, total * sizeof(float), cudaMemcpyDeviceToHost), "copy");

    if (!write_raw("data/y.bin", h_y.data(), total * sizeof(float))) {
        fprintf(stderr, "cannot write data/y.bin\n");
        return 1;
    }
    cudaFree(dev_x);
    cudaFree(dev_y);
    return 0;
}
