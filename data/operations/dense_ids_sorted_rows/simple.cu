#include <cstdio>
#include <cstdlib>
#include <vector>
#include <cuda_runtime.h>

constexpr int kRows = 30;
constexpr int kCols = 400;

static inline void check(cudaError_t e, const char* what) {
    if (e != cudaSuccess) {
        std::fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(e));
        std::exit(1);
    }
}

static bool load(const char* path, void* dst, size_t bytes) {
    FILE* f = std::fopen(path, "rb");
    if (!f) return false;
    size_t got = std::fread(dst, 1, bytes, f);
    std::fclose(f);
    return got == bytes;
}

static bool store(const char* path, const void* src, size_t bytes) {
    FILE* f = std::fopen(path, "wb");
    if (!f) return false;
    size_t put = std::fwrite(src, 1, bytes, f);
    return std::fclose(f) == 0 && put == bytes;
}

__global__ void dense_ids(const float* values, int* ids, int* distinct) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= kRows) return;
    const float* row = values + (size_t)r * kCols;
    int* out = ids + (size_t)r * kCols;
    int id = 0;
    out[0] = 0;
    for (int c = 1; c < kCols; ++c) {
        if (row[c] != row[c - 1]) ++id;
        out[c] = id;
    }
    distinct[r] = id + 1;
}

int main() {
    const size_t n = kRows * kCols;
    std::vector<float> sorted_values(n);
    std::vector<int> ids(n);
    std::vector<int> distinct(kRows);
    if (!load("data/sorted_values.bin", sorted_values.data(), n * sizeof(float))) {
        std::fprintf(stderr, "input files missing or short\n");
        return 1;
    }

    float *d_sorted_values = nullptr;
    int *d_ids = nullptr, *d_distinct = nullptr;
    check(cudaMalloc(&d_sorted_values, n * sizeof(float)), "malloc sorted_values");
    check(cudaMalloc(&d_ids, n * sizeof(int)), "malloc ids");
    check(cudaMalloc(&d_distinct, kRows * sizeof(int)), "malloc distinct");
    check(cudaMemcpy(d_sorted_values, sorted_values.data(), n * sizeof(float), cudaMemcpyHostToDevice),
          "copy sorted_values");

    int block = 32;
    dense_ids<<<(kRows + block - 1) / block, block>>>(d_sorted_values, d_ids, d_distinct);
    check(cudaGetLastError(), "launch");
    check(cudaMemcpy(ids.data(), d_ids, n * sizeof(int), cudaMemcpyDeviceToHost),
          "copy ids");
    check(cudaMemcpy(distinct.data(), d_distinct, kRows * sizeof(int), cudaMemcpyDeviceToHost),
          "copy distinct");

    cudaFree(d_sorted_values);
    cudaFree(d_ids);
    cudaFree(d_distinct);
    if (!store("data/ids.bin", ids.data(), n * sizeof(int))) return 1;
    if (!store("data/distinct.bin", distinct.data(), kRows * sizeof(int))) return 1;
    return 0;
}
