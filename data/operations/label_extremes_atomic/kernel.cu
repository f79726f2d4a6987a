#include <cuda_runtime.h>
#include <climits>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>

void read_binary(const std::string& path, int* buffer, size_t size) {
    std::ifstream in(path, std::ios::binary);
    if (!in.is_open()) {
        std::cerr << "Cannot open " << path << std::endl;
        exit(1);
    }
    in.read(reinterpret_cast<char*>(buffer), size * sizeof(int));
}

void write_binary(const std::string& path, const int* buffer, size_t size) {
    std::ofstream stream(path, std::ios::binary);
    stream.write(reinterpret_cast<const char*>(buffer), size * sizeof(int));
}
//@given

const int N = 9000;
const int GROUPS = 100;
const int THREADS = 256;
const int ITEMS = 8;

__global__ void init(int* low, int* high) {
    for (int g = blockIdx.x * THREADS + threadIdx.x; g < GROUPS; g += gridDim.x * THREADS) {
        low[g] = INT_MAX;
        high[g] = INT_MIN;
    }
}

// Looks at the current extremes first: most values change nothing and need no atomic.
__global__ void extremes_filtered(const int* __restrict__ value, const int* __restrict__ label,
                                  const int* __restrict__ sign, int* low, int* high) {
    int first = blockIdx.x * THREADS * ITEMS + threadIdx.x;
    for (int k = 0; k < ITEMS; ++k) {
        int i = first + k * THREADS;
        if (i >= N) break;
        int g = label[i];
        int v = sign[g] < 0 ? -value[i] : value[i];
        if (v < low[g]) atomicMin(&low[g], v);
        if (v > high[g]) atomicMax(&high[g], v);
    }
}

int main() {
    int* h_value = new int[N];
    int* h_label = new int[N];
    int* h_sign = new int[GROUPS];
    int* h_low = new int[GROUPS];
    int* h_high = new int[GROUPS];
    read_binary("data/value.bin", h_value, N);
    read_binary("data/label.bin", h_label, N);
    read_binary("data/sign.bin", h_sign, GROUPS);

    int *d_value, *d_label, *d_sign, *d_low, *d_high;
    cudaMalloc(&d_value, N * sizeof(int));
    cudaMalloc(&d_label, N * sizeof(int));
    cudaMalloc(&d_sign, GROUPS * sizeof(int));
    cudaMalloc(&d_low, GROUPS * sizeof(int));
    cudaMalloc(&d_high, GROUPS * sizeof(int));
    cudaMemcpy(d_value, h_value, N * sizeof(int), cudaMemcpyHostToDevice);
    cudaMemcpy(d_label, h_label, N * sizeof(int), cudaMemcpyHostToDevice);
    cudaMemcpy(d_sign, h_sign, GROUPS * sizeof(int), cudaMemcpyHostToDevice);

    init<<<64, THREADS>>>(d_low, d_high);
    int blocks = (N + (THREADS * ITEMS) - 1) / (THREADS * ITEMS);
    extremes_filtered<<<blocks, THREADS>>>(d_value, d_label, d_sign, d_low, d_high);
    cudaError_t err = cudaGetLastError();
    if (err != cudaSuccess) {
        std::cerr << "launch: " << cudaGetErrorString(err) << std::endl;
        return 1;
    }

    cudaMemcpy(h_low, d_low, GROUPS * sizeof(int), cudaMemcpyDeviceToHost);
    cudaMemcpy(h_high, d_high, GROUPS * sizeof(int), cudaMemcpyDeviceToHost);
    write_binary("data/low.bin", h_low, GROUPS);
    write_binary("data/high.bin", h_high, GROUPS);

    cudaFree(d_value);
    cudaFree(d_label);
    cudaFree(d_sign);
    cudaFree(d_low);
    cudaFree(d_high);
    delete[] h_value;
    delete[] h_label;
    delete[] h_sign;
    delete[] h_low;
    delete[] h_high;
    return 0;
}
