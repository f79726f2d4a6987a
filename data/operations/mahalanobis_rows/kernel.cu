#include <fstream>
#include <iostream>
#include <string>
#include <cstdlib>
#include <cuda_runtime.h>

void read_bin(const std::string& path, float* buffer, size_t n) {
    std::ifstream file(path, std::ios::binary);
    file.read(reinterpret_cast<char*>(buffer), n * sizeof(float));
    if (!file) {
        std::cerr << "Failed to read " << path << std::endl;
        exit(1);
    }
}

void write_bin(const std::string& path, const float* buffer, size_t n) {
    std::ofstream stream(path, std::ios::binary);
    stream.write(reinterpret_cast<const char*>(buffer), n * sizeof(float));
}
//@given

constexpr int kRows = 300;
constexpr int kDim = 20;
constexpr int kGroup = 64;
constexpr int kStride = kDim | 1;

// The symmetric matrix is staged once per block; the strictly upper half counts twice. Deviations of 64 rows are stored
// with an odd stride.
__global__ void mahalanobis_staged(const float* __restrict__ x, const float* __restrict__ mean,
                                   const float* __restrict__ precision, float* __restrict__ distance) {
    __shared__ float p[kDim * kDim];
    __shared__ float d[kGroup * kStride];
    for (int e = threadIdx.x; e < kDim * kDim; e += kGroup) p[e] = precision[e];
    const int first = blockIdx.x * kGroup;
    const int here = min(kGroup, kRows - first);
    for (int e = threadIdx.x; e < here * kDim; e += kGroup) {
        d[e / kDim * kStride + e % kDim] = x[first * kDim + e] - mean[e % kDim];
    }
    __syncthreads();
    if (threadIdx.x >= here) return;
    const float* own = d + threadIdx.x * kStride;
    float total = 0.0f;
    for (int i = 0; i < kDim; ++i) {
        float off = 0.0f;
        for (int j = i + 1; j < kDim; ++j) off = fmaf(p[i * kDim + j], own[j], off);
        total = fmaf(own[i], fmaf(p[i * kDim + i], own[i], 2.0f * off), total);
    }
    distance[first + threadIdx.x] = total;
}

int main() {
    float* h_x = new float[kRows * kDim];
    float* h_mean = new float[kDim];
    float* h_precision = new float[kDim * kDim];
    float* h_distance = new float[kRows];
    read_bin("data/x.bin", h_x, kRows * kDim);
    read_bin("data/mean.bin", h_mean, kDim);
    read_bin("data/precision.bin", h_precision, kDim * kDim);

    float* d_x;
    cudaMalloc((void**)&d_x, sizeof(float) * kRows * kDim);
    float* d_mean;
    cudaMalloc(&d_mean, kDim * sizeof(float));
    float* d_precision;
    cudaMalloc(&d_precision, sizeof(float) * kDim * kDim);
    float* d_distance;
    cudaMalloc(&d_distance, kRows * sizeof(float));
    cudaMemcpy(d_x, h_x, sizeof(float) * kRows * kDim, cudaMemcpyHostToDevice);
    cudaMemcpy(d_mean, h_mean, kDim * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_precision, h_precision, sizeof(float) * kDim * kDim, cudaMemcpyHostToDevice);

    mahalanobis_staged<<<(kRows + kGroup - 1) / kGroup, kGroup>>>(d_x, d_mean, d_precision, d_distance);

    cudaMemcpy(h_distance, d_distance, kRows * sizeof(float), cudaMemcpyDeviceToHost);
    write_bin("data/distance.bin", h_distance, kRows);

    delete[] h_x;
    delete[] h_mean;
    delete[] h_precision;
    delete[] h_distance;
    cudaFree(d_x);
    cudaFree(d_mean);
    cudaFree(d_precision);
    cudaFree(d_distance);
    return 0;
}
