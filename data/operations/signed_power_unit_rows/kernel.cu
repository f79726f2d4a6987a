#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>
#include <cuda_runtime.h>

void read_bin(const std::string& name, void* values, size_t num_bytes) {
    std::ifstream in(name, std::ios::binary);
    in.read(reinterpret_cast<char*>(values), num_bytes);
    if (!in) {
        std::cerr << "cannot read " << name << std::endl;
        exit(1);
    }
}

void write_bin(const std::string& name, const void* values, size_t num_bytes) {
    std::ofstream file(name, std::ios::binary);
    file.write(reinterpret_cast<const char*>(values), num_bytes);
}
//@given

constexpr int kCountD = 90;
constexpr int kDim = 128;

inline int ceil_div(int a, int b) { return (a + b - 1) / b; }

__global__ void power_normalize(const float* __restrict__ in, float* __restrict__ out) {
    const int warps = blockDim.x / 32;
    const int lane = threadIdx.x & 31;
    for (int r = blockIdx.x * warps + threadIdx.x / 32; r < kCountD; r += gridDim.x * warps) {
        const size_t base = (size_t)r * kDim;
        float total = 0.0f;
        for (int j = lane; j < kDim; j += 32) total += fabsf(in[base + j]);
        for (int s = 16; s > 0; s >>= 1) total += __shfl_xor_sync(0xffffffffu, total, s);
        const float inv = total > 0.0f ? 1.0f / total : 0.0f;
        for (int j = lane; j < kDim; j += 32) {
            float v = in[base + j];
            out[base + j] = copysignf(sqrtf(fabsf(v) * inv), v);
        }
    }
}

int main() {
    const int num_elements = kCountD * kDim;
    float* descriptors_host = new float[num_elements];
    float* normalized_host = new float[num_elements];
    read_bin("data/descriptors.bin", descriptors_host, num_elements * sizeof(float));

    float* d_descriptors;
    float* d_normalized;
    cudaMalloc(&d_descriptors, num_elements * sizeof(float));
    cudaMalloc(&d_normalized, num_elements * sizeof(float));
    cudaMemcpy(d_descriptors, descriptors_host, num_elements * sizeof(float), cudaMemcpyHostToDevice);

    int rows_per_block = 4;
    int blocks = ceil_div(kCountD, rows_per_block);
    if (blocks > 1024) blocks = 1024;
    power_normalize<<<blocks, 32 * rows_per_block>>>(d_descriptors, d_normalized);

    cudaMemcpy(normalized_host, d_normalized, num_elements * sizeof(float), cudaMemcpyDeviceToHost);
    write_bin("data/normalized.bin", normalized_host, num_elements * sizeof(float));

    cudaFree(d_descriptors);
    cudaFree(d_normalized);
    delete[] descriptors_host;
    delete[] normalized_host;
    return 0;
}
