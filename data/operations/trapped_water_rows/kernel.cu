#include <cstdio>
#include <cstdlib>
#include <vector>
#include <cuda_runtime.h>

inline void check(cudaError_t status, const char* what) {
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

constexpr int kRows = 60;
constexpr int kCols = 400;
constexpr int kBlock = 128;
constexpr int kSpan = (kCols + kBlock - 1) / kBlock;

// A block per row; each thread owns a contiguous span and learns the maxima of the spans on either side.
__global__ void trapped_water_spans(const int* __restrict__ height, int* __restrict__ water, long long* held) {
    __shared__ int top[kBlock];
    __shared__ long long sums[kBlock];
    const int* h = height + (size_t)blockIdx.x * kCols;
    int* w = water + (size_t)blockIdx.x * kCols;
    int t = threadIdx.x;
    int begin = min(t * kSpan, kCols), end = min(begin + kSpan, kCols);
    int best = 0;
    for (int c = begin; c < end; ++c) best = max(best, h[c]);
    top[t] = best;
    __syncthreads();
    int left = 0, right = 0;
    for (int k = 0; k < t; ++k) left = max(left, top[k]);
    for (int k = t + 1; k < kBlock; ++k) right = max(right, top[k]);
    for (int c = begin; c < end; ++c) {
        left = max(left, h[c]);
        w[c] = left;
    }
    long long sum = 0;
    for (int c = end - 1; c >= begin; --c) {
        right = max(right, h[c]);
        int amount = min(w[c], right) - h[c];
        w[c] = amount;
        sum += amount;
    }
    sums[t] = sum;
    __syncthreads();
    for (int s = kBlock / 2; s > 0; s /= 2) {
        if (t < s) sums[t] += sums[t + s];
        __syncthreads();
    }
    if (t == 0) held[blockIdx.x] = sums[0];
}

int main() {
    const size_t numel = (size_t)kRows * kCols;
    std::vector<int> host_height(numel);
    std::vector<int> host_water(numel);
    std::vector<long long> host_held(kRows);
    if (!loadBytes("data/height.bin", host_height.data(), numel * sizeof(int))) {
        fprintf(stderr, "cannot read data/height.bin\n");
        return 1;
    }

    int *d_height, *d_water;
    long long* d_held;
    check(cudaMalloc(&d_height, numel * sizeof(int)), "allocate d_height");
    check(cudaMalloc(&d_water, numel * sizeof(int)), "allocate d_water");
    check(cudaMalloc(&d_held, kRows * sizeof(long long)), "allocate d_held");
    check(cudaMemcpy(d_height, host_height.data(), numel * sizeof(int), cudaMemcpyHostToDevice), "copy d_height");

    trapped_water_spans<<<kRows, kBlock>>>(d_height, d_water, d_held);
    check(cudaGetLastError(), "launch");
    check(cudaMemcpy(host_water.data(), d_water, numel * sizeof(int), cudaMemcpyDeviceToHost), "copy host_water");
    check(cudaMemcpy(host_held.data(), d_held, kRows * sizeof(long long), cudaMemcpyDeviceToHost),
        "copy host_held");

    if (!saveBytes("data/water.bin", host_water.data(), numel * sizeof(int))) {
        fprintf(stderr, "cannot write data/water.bin\n");
        return 1;
    }
    if (!saveBytes("data/held.bin", host_held.data(), kRows * sizeof(long long))) {
        fprintf(stderr, "cannot write data/held.bin\n");
        return 1;
    }
    cudaFree(d_height);
    cudaFree(d_water);
    cudaFree(d_held);
    return 0;
}
