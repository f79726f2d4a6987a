#include <fstream>
#include <iostream>
#include <string>
#include <cstdlib>
#include <cuda_runtime.h>

void read_binary(const std::string& path, float* ptr, size_t size) {
    std::ifstream file(path, std::ios::binary);
    file.read(reinterpret_cast<char*>(ptr), size * sizeof(float));
    if (!file) {
        std::cerr << "Failed to read " << path << std::endl;
        exit(1);
    }
}

void write_binary(const std::string& path, const float* ptr, size_t size) {
    std::ofstream out(path, std::ios::binary);
    out.write(reinterpret_cast<const char*>(ptr), size * sizeof(float));
}
//@given

constexpr int kSamples = 200;
constexpr int kN = 24;

__global__ void add_outer_products(const float* packed, const float* x, const float* weight, float* result) {
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    int i = blockIdx.y;
    if (j < i || j >= kN) return;
    float sum = 0.0f;
    for (int s = 0; s < kSamples; ++s) {
        sum += weight[s] * x[s * kN + i] * x[s * kN + j];
    }
    int at = i * kN - i * (i - 1) / 2 + (j - i);
    result[at] = packed[at] + sum;
}

int main() {
    const size_t n_packed = (size_t)kN * (kN + 1) / 2;
    const size_t n_x = (size_t)kSamples * kN;
    float* h_packed = new float[n_packed];
    float* h_x = new float[n_x];
    float* h_weight = new float[kSamples];
    float* h_result = new float[n_packed];
    read_binary("data/packed.bin", h_packed, n_packed);
    read_binary("data/x.bin", h_x, n_x);
    read_binary("data/weight.bin", h_weight, kSamples);

    float *d_packed, *d_x, *d_weight, *d_result;
    cudaMalloc(&d_packed, n_packed * sizeof(float));
    cudaMalloc(&d_x, n_x * sizeof(float));
    cudaMalloc(&d_weight, kSamples * sizeof(float));
    cudaMalloc(&d_result, n_packed * sizeof(float));
    cudaMemcpy(d_packed, h_packed, n_packed * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_x, h_x, n_x * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_weight, h_weight, kSamples * sizeof(float), cudaMemcpyHostToDevice);

    dim3 grid((kN + 63) / 64, kN);
    add_outer_products<<<grid, 64>>>(d_packed, d_x, d_weight, d_result);
    cudaDeviceSynchronize();

    cudaMemcpy(h_result, d_result, n_packed * sizeof(float), cudaMemcpyDeviceToHost);
    write_binary("data/result.bin", h_result, n_packed);

    cudaFree(d_packed);
    cudaFree(d_x);
    cudaFree(d_weight);
    cudaFree(d_result);
    delete[] h_packed;
    delete[] h_x;
    delete[] h_weight;
    delete[] h_result;
    return 0;
}
