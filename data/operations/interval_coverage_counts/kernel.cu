#include <cuda_runtime.h>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <string>

void read_binary(const std::string& path, int* buffer, size_t count) {
    FILE* f = fopen(path.c_str(), "rb");
    if (f == nullptr || fread(buffer, 1, count * sizeof(int), f) != count * sizeof(int)) {
        fprintf(stderr, "cannot read %s\n", path.c_str());
        exit(1);
    }
    fclose(f);
}

void write_binary(const std::string& path, const int* buffer, size_t count) {
    FILE* f = fopen(path.c_str(), "wb");
    if (f == nullptr || fwrite(buffer, 1, count * sizeof(int), f) != count * sizeof(int)) {
        fprintf(stderr, "cannot write %s\n", path.c_str());
        exit(1);
    }
    fclose(f);
}
//@given

constexpr int kIntervals = 600;
constexpr int kLength = 20000;
constexpr int kBlock = 256;
constexpr int kParts = (kLength + kBlock - 1) / kBlock;

__global__ void mark(const int* __restrict__ begin, const int* __restrict__ end, int* change, int* deepest) {
    int k = blockIdx.x * kBlock + threadIdx.x;
    if (k == 0) deepest[0] = INT_MIN;
    if (k < kIntervals && begin[k] < end[k]) {
        atomicAdd(&change[begin[k]], 1);
        atomicAdd(&change[end[k]], -1);
    }
}

__device__ int block_scan(int v, int* buf) {
    int t = threadIdx.x;
    buf[t] = v;
    __syncthreads();
    for (int s = 1; s < kBlock; s *= 2) {
        int left = t >= s ? buf[t - s] : 0;
        __syncthreads();
        buf[t] += left;
        __syncthreads();
    }
    return buf[t];
}

__global__ void scan_parts(int* change, int* totals) {
    __shared__ int buf[kBlock];
    int p = blockIdx.x * kBlock + threadIdx.x;
    int sum = block_scan(p < kLength ? change[p] : 0, buf);
    if (p < kLength) change[p] = sum;
    if (threadIdx.x == kBlock - 1) totals[blockIdx.x] = sum;
}

__global__ void scan_totals(int* totals) {
    __shared__ int buf[kBlock];
    int carry = 0;
    for (int start = 0; start < kParts; start += kBlock) {
        int k = start + threadIdx.x;
        int own = k < kParts ? totals[k] : 0;
        int sum = block_scan(own, buf);
        if (k < kParts) totals[k] = carry + sum - own;
        carry += buf[kBlock - 1];
        __syncthreads();
    }
}

__global__ void finish(const int* change, const int* totals, const int* base, int* depth, int* deepest) {
    int p = blockIdx.x * kBlock + threadIdx.x;
    int v = INT_MIN;
    if (p < kLength) {
        v = change[p] + totals[blockIdx.x] + base[p];
        depth[p] = v;
    }
    for (int s = 16; s > 0; s /= 2) v = max(v, __shfl_down_sync(0xffffffffu, v, s));
    if (threadIdx.x % 32 == 0) atomicMax(deepest, v);
}

int main() {
    int* h_begin = new int[kIntervals];
    read_binary("data/begin.bin", h_begin, kIntervals);
    int* h_end = new int[kIntervals];
    read_binary("data/end.bin", h_end, kIntervals);
    int* h_base = new int[kLength];
    read_binary("data/base.bin", h_base, kLength);
    int* h_depth = new int[kLength];
    int* h_deepest = new int[1];

    int* d_begin;
    int* d_end = nullptr;
    int* d_base;
    int* d_depth = nullptr;
    int* d_deepest = nullptr;
    int* d_change;
    int* d_totals;
    cudaMalloc(&d_begin, kIntervals * sizeof(int));
    cudaMalloc(&d_end, kIntervals * sizeof(int));
    cudaMalloc(&d_base, kLength * sizeof(int));
    cudaMalloc(&d_depth, kLength * sizeof(int));
    cudaMalloc(&d_deepest, sizeof(int));
    cudaMalloc(&d_change, (kLength + 1) * sizeof(int));
    cudaMalloc(&d_totals, kParts * sizeof(int));
    cudaMemcpy(d_begin, h_begin, kIntervals * sizeof(int), cudaMemcpyHostToDevice);
    cudaMemcpy(d_end, h_end, kIntervals * sizeof(int), cudaMemcpyHostToDevice);
    cudaMemcpy(d_base, h_base, kLength * sizeof(int), cudaMemcpyHostToDevice);
    cudaMemset(d_change, 0, (kLength + 1) * sizeof(int));

    mark<<<(kIntervals + kBlock - 1) / kBlock, kBlock>>>(d_begin, d_end, d_change, d_deepest);
    scan_parts<<<kParts, kBlock>>>(d_change, d_totals);
    scan_totals<<<1, kBlock>>>(d_totals);
    finish<<<kParts, kBlock>>>(d_change, d_totals, d_base, d_depth, d_deepest);
    cudaError_t err = cudaDeviceSynchronize();
    if (err != cudaSuccess) {
        fprintf(stderr, "%s\n", cudaGetErrorString(err));
        return 1;
    }

    cudaMemcpy(h_depth, d_depth, kLength * sizeof(int), cudaMemcpyDeviceToHost);
    cudaMemcpy(h_deepest, d_deepest, sizeof(int), cudaMemcpyDeviceToHost);
    write_binary("data/depth.bin", h_depth, kLength);
    write_binary("data/deepest.bin", h_deepest, 1);

    cudaFree(d_begin);
    cudaFree(d_end);
    cudaFree(d_base);
    cudaFree(d_depth);
    cudaFree(d_deepest);
    cudaFree(d_change);
    cudaFree(d_totals);
    delete[] h_begin;
    delete[] h_end;
    delete[] h_base;
    delete[] h_depth;
    delete[] h_deepest;
    return 0;
}
