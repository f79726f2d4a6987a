#include <cstdio>
#include <cstdlib>
#include <vector>
#include <cuda_runtime.h>

constexpr int kRows = 50;
constexpr int kCols = 200;
constexpr int kWinners = kCols / 8;

inline void check_cuda(cudaError_t err, const char* what) {
    if (err != cudaSuccess) {
        fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(err));
        exit(1);
    }
}

bool read_exact(const char* path, std::vector<float>& v) {
    FILE* f = fopen(path, "rb");
    if (!f) return false;
    bool ok = fread(v.data(), sizeof(float), v.size(), f) == v.size();
    fclose(f);
    return ok;
}

bool write_all(const char* path, const std::vector<float>& v) {
    FILE* f = fopen(path, "wb");
    if (!f) return false;
    bool ok = fwrite(v.data(), sizeof(float), v.size(), f) == v.size();
    ok = fclose(f) == 0 && ok;
    return ok;
}

// Order-preserving integer keys; the key of the k-th largest value is found bit by bit from the top.
__device__ unsigned int order_key(float v) {
    unsigned int u = __float_as_uint(v);
    return (u & 0x80000000u) ? ~u : (u | 0x80000000u);
}

__global__ void winners_by_bits(const float* __restrict__ x, float* __restrict__ y, float* __restrict__ cutoff) {
    __shared__ unsigned int keys[kCols];
    const size_t base = (size_t)blockIdx.x * kCols;
    for (int c = threadIdx.x; c < kCols; c += blockDim.x) keys[c] = order_key(x[base + c]);
    unsigned int limit = 0;
    __syncthreads();
    for (int bit = 31; bit >= 0; --bit) {
        const unsigned int trial = limit | (1u << bit);
        int at_least = 0;
        for (int c0 = 0; c0 < kCols; c0 += blockDim.x) {
            const int c = c0 + threadIdx.x;
            at_least += __syncthreads_count(c < kCols && keys[c] >= trial);
        }
        if (at_least >= kWinners) limit = trial;
    }
    for (int c = threadIdx.x; c < kCols; c += blockDim.x) {
        const float v = x[base + c];
        y[base + c] = keys[c] >= limit ? v : 0.0f;
        if (keys[c] == limit) cutoff[blockIdx.x] = v;
    }
}

int main() {
    const int size = kRows * kCols;
    std::vector<float> x(size);
    std::vector<float> y(size);
    std::vector<float> cutoff(kRows);
    if (!read_exact("data/x.bin", x)) {
        fprintf(stderr, "cannot read data/x.bin\n");
        return 1;
    }

    float *d_x, *d_y, *d_cutoff;
    check_cuda(cudaMalloc(&d_x, size * sizeof(float)), "cudaMalloc x");
    check_cuda(cudaMalloc(&d_y, size * sizeof(float)), "cudaMalloc y");
    check_cuda(cudaMalloc(&d_cutoff, kRows * sizeof(float)), "cudaMalloc cutoff");
    check_cuda(cudaMemcpy(d_x, x.data(), size * sizeof(float), cudaMemcpyHostToDevice), "upload x");

    winners_by_bits<<<kRows, 256>>>(d_x, d_y, d_cutoff);
    check_cuda(cudaGetLastError(), "kernel launch");
    check_cuda(cudaMemcpy(y.data(), d_y, size * sizeof(float), cudaMemcpyDeviceToHost), "result");
    check_cuda(cudaMemcpy(cutoff.data(), d_cutoff, kRows * sizeof(float), cudaMemcpyDeviceToHost), "result");

    if (!write_all("data/y.bin", y)) {
        fprintf(stderr, "cannot write data/y.bin\n");
        return 1;
    }
    if (!write_all("data/cutoff.bin", cutoff)) {
        fprintf(stderr, "cannot write data/cutoff.bin\n");
        return 1;
    }
    cudaFree(d_cutoff);
    cudaFree(d_y);
    cudaFree(d_x);
    return 0;
}
