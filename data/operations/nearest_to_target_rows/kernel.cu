#include <cfloat>
#include <cstdio>
#include <cstdlib>
#include <vector>
#include <cuda_runtime.h>

constexpr int kRows = 60;
constexpr int kCols = 500;
constexpr int kWarps = 8;

inline void check(cudaError_t status, const char* what) {
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

__global__ void nearest_warp(const float* __restrict__ x, const float* __restrict__ target, int* index,
    float* gap) {
    int r = blockIdx.x * kWarps + threadIdx.x / 32;
    if (r >= kRows) return;
    int lane = threadIdx.x % 32;
    const float* row = x + (size_t)r * kCols;
    float goal = target[r];
    float best = FLT_MAX;
    int at = kCols;
    for (int c = lane; c < kCols; c += 32) {
        float d = fabsf(row[c] - goal);
        if (d < best) {
            best = d;
            at = c;
        }
    }
    for (int s = 16; s > 0; s /= 2) {
        float d = __shfl_down_sync(0xffffffffu, best, s);
        int c = __shfl_down_sync(0xffffffffu, at, s);
        if (d < best || (d == best && c < at)) {
            best = d;
            at = c;
        }
    }
    if (lane == 0) {
        index[r] = at;
        gap[r] = best;
    }
}

int main() {
    const size_t numel = (size_t)kRows * kCols;
    std::vector<float> x(numel);
    std::vector<float> target(kRows);
    std::vector<int> index(kRows);
    std::vector<float> gap(kRows);
    if (!read_raw("data/x.bin", x.data(), numel * sizeof(float))) {
        fprintf(stderr, "cannot read data/x.bin\n");
        return 1;
    }
    if (!read_raw("data/target.bin", target.data(), kRows * sizeof(float))) {
        fprintf(stderr, "cannot read data/target.bin\n");
        return 1;
    }

    float *dev_x, *dev_target, *dev_gap;
    int* dev_index;
    check(cudaMalloc(&dev_x, numel * sizeof(float)), "allocate dev_x");
    check(cudaMalloc(&dev_target, kRows * sizeof(float)), "allocate dev_target");
    check(cudaMalloc(&dev_index, kRows * sizeof(int)), "allocate dev_index");
    check(cudaMalloc(&dev_gap, kRows * sizeof(float)), "allocate dev_gap");
    check(cudaMemcpy(dev_x, x.data(), numel * sizeof(float), cudaMemcpyHostToDevice), "copy dev_x");
    check(cudaMemcpy(dev_target, target.data(), kRows * sizeof(float), cudaMemcpyHostToDevice), "copy dev_target");

    nearest_warp<<<(kRows + kWarps - 1) / kWarps, kWarps * 32>>>(dev_x, dev_target, dev_index, dev_gap);
    check(cudaGetLastError(), "launch");
    check(cudaMemcpy(index.data(), dev_index, kRows * sizeof(int), cudaMemcpyDeviceToHost), "copy index");
    check(cudaMemcpy(gap.data(), dev_gap, kRows * sizeof(float), cudaMemcpyDeviceToHost), "copy gap");

    if (!write_raw("data/index.bin", index.data(), kRows * sizeof(int))) {
        fprintf(stderr, "cannot write data/index.bin\n");
        return 1;
    }
    if (!write_raw("data/gap.bin", gap.data(), kRows * sizeof(float))) {
        fprintf(stderr, "cannot write data/gap.bin\n");
        return 1;
    }
    cudaFree(dev_x);
    cudaFree(dev_target);
    cudaFree(dev_index);
    cudaFree(dev_gap);
    return 0;
}
