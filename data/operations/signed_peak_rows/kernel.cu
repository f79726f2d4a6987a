#include <fstream>
#include <iostream>
#include <cuda_runtime.h>

const int ROWS = 48;
const int COLS = 777;
const int BLOCK = 128;

// Bits of |x| above, complement of the column below: the largest key is the peak with the smallest column.
__device__ unsigned long long make_key(float v, int c) {
    unsigned int bits = __float_as_uint(fabsf(v));
    return ((unsigned long long)bits << 32) | (0xffffffffu - (unsigned int)c);
}

__device__ unsigned long long larger(unsigned long long a, unsigned long long b) {
    return a > b ? a : b;
}

__global__ void signed_peak_keys(const float* __restrict__ x, float* __restrict__ peak, int* __restrict__ where) {
    __shared__ unsigned long long keys[BLOCK / 32];
    const float* row = x + (size_t)blockIdx.x * COLS;
    unsigned long long key = 0;
    for (int c = threadIdx.x; c < COLS; c += BLOCK) key = larger(key, make_key(row[c], c));
    for (int s = 16; s > 0; s /= 2) key = larger(key, __shfl_down_sync(0xffffffffu, key, s));
    if (threadIdx.x % 32 == 0) keys[threadIdx.x / 32] = key;
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int k = 1; k < BLOCK / 32; ++k) key = larger(key, keys[k]);
        int c = (int)(0xffffffffu - (unsigned int)(key & 0xffffffffu));
        peak[blockIdx.x] = row[c];
        where[blockIdx.x] = c;
    }
}

int main() {
    float* x;
    float* peak;
    int* where;
    cudaMallocManaged(&x, ROWS * COLS * sizeof(float));
    cudaMallocManaged(&peak, ROWS * sizeof(float));
    cudaMallocManaged(&where, ROWS * sizeof(int));

    std::ifstream input("data/x.bin", std::ios::binary);
    if (!input.read(reinterpret_cast<char*>(x), ROWS * COLS * sizeof(float))) {
        std::cerr << "cannot read data/x.bin\n";
        return 1;
    }

    signed_peak_keys<<<ROWS, BLOCK>>>(x, peak, where);
    if (cudaDeviceSynchronize() != cudaSuccess) {
        std::cerr << "kernel failed\n";
        return 1;
    }

    std::ofstream peak_stream("data/peak.bin", std::ios::binary);
    peak_stream.write(reinterpret_cast<char*>(peak), ROWS * sizeof(float));
    std::ofstream where_stream("data/where.bin", std::ios::binary);
    where_stream.write(reinterpret_cast<char*>(where), ROWS * sizeof(int));

    cudaFree(x);
    cudaFree(peak);
    cudaFree(where);
    return 0;
}
