#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>
#include <cuda_runtime.h>

void load_data(const std::string& path, float* buffer, size_t size) {
    std::ifstream file(path, std::ios::binary);
    file.read(reinterpret_cast<char*>(buffer), size * sizeof(float));
    if (!file) {
        std::cerr << "failed to read " << path << std::endl;
        exit(1);
    }
}

void save_data(const std::string& path, const float* buffer, size_t size) {
    std::ofstream file(path, std::ios::binary);
    file.write(reinterpret_cast<const char*>(buffer), size * sizeof(float));
}
//@given

constexpr int kRows = 40;
constexpr int kBins = 257;

// The pairs are read as float2; a block of 128 threads does both passes over its row.
__global__ void complex_rms(const float2* __restrict__ z, const float* __restrict__ weight,
                            float2* __restrict__ scaled, float* __restrict__ level) {
    __shared__ float warp_part[4];
    const float2* row = z + (size_t)blockIdx.x * kBins;
    float sum = 0.0f;
    for (int b = threadIdx.x; b < kBins; b += 128) {
        float2 v = row[b];
        sum += v.x * v.x + v.y * v.y;
    }
    for (int s = 16; s > 0; s >>= 1) sum += __shfl_down_sync(0xffffffffu, sum, s);
    if ((threadIdx.x & 31) == 0) warp_part[threadIdx.x >> 5] = sum;
    __syncthreads();
    float mean = (warp_part[0] + warp_part[1] + warp_part[2] + warp_part[3]) / kBins + 1e-8f;
    float inv = rsqrtf(mean);
    if (threadIdx.x == 0) level[blockIdx.x] = sqrtf(mean);
    for (int b = threadIdx.x; b < kBins; b += 128) {
        float2 v = row[b];
        float f = weight[b] * inv;
        scaled[(size_t)blockIdx.x * kBins + b] = make_float2(v.x * f, v.y * f);
    }
}

int main() {
    const size_t num_z = kRows * kBins * 2;
    float* h_z = new float[num_z];
    float* h_weight = new float[kBins];
    float* h_scaled = new float[num_z];
    float* h_level = new float[kRows];
    load_data("data/z.bin", h_z, num_z);
    load_data("data/weight.bin", h_weight, kBins);

    float* d_z;
    float* d_weight;
    float* d_scaled;
    float* d_level;
    cudaMalloc(&d_z, num_z * sizeof(float));
    cudaMalloc(&d_weight, kBins * sizeof(float));
    cudaMalloc(&d_scaled, num_z * sizeof(float));
    cudaMalloc(&d_level, kRows * sizeof(float));
    cudaMemcpy(d_z, h_z, num_z * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_weight, h_weight, kBins * sizeof(float), cudaMemcpyHostToDevice);

    complex_rms<<<kRows, 128>>>((const float2*)d_z, d_weight, (float2*)d_scaled, d_level);
    cudaDeviceSynchronize();

    cudaMemcpy(h_scaled, d_scaled, num_z * sizeof(float), cudaMemcpyDeviceToHost);
    cudaMemcpy(h_level, d_level, kRows * sizeof(float), cudaMemcpyDeviceToHost);
    save_data("data/scaled.bin", h_scaled, num_z);
    save_data("data/level.bin", h_level, kRows);

    cudaFree(d_z);
    cudaFree(d_weight);
    cudaFree(d_scaled);
    cudaFree(d_level);
    delete[] h_z;
    delete[] h_weight;
    delete[] h_scaled;
    delete[] h_level;
    return 0;
}
