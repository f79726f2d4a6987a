#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>
#include <cuda_runtime.h>

void load(const std::string& filename, float* buffer, size_t count) {
    std::ifstream in(filename, std::ios::binary);
    in.read(reinterpret_cast<char*>(buffer), count * sizeof(float));
    if (!in) {
        std::cerr << "cannot read " << filename << std::endl;
        exit(EXIT_FAILURE);
    }
}

void save(const std::string& filename, const float* buffer, size_t count) {
    std::ofstream file(filename, std::ios::binary);
    file.write(reinterpret_cast<const char*>(buffer), count * sizeof(float));
}
//@given

constexpr int kPairs = 50;
constexpr int kDays = 260;
constexpr int kBlock = 128;
constexpr int kReturns = kDays - 1;

__device__ float reduce(float v, float* buffer) {
    buffer[threadIdx.x] = v;
    __syncthreads();
    for (int s = kBlock / 2; s > 0; s /= 2) {
        if (threadIdx.x < s) buffer[threadIdx.x] += buffer[threadIdx.x + s];
        __syncthreads();
    }
    float total = buffer[0];
    __syncthreads();
    return total;
}

__global__ void pair_statistics(const float* first, const float* second, float* covariance, float* correlation,
                                float* beta) {
    __shared__ float buffer[kBlock];
    const float* a = first + (size_t)blockIdx.x * kDays;
    const float* b = second + (size_t)blockIdx.x * kDays;
    float sx = 0.0f, sy = 0.0f;
    for (int t = threadIdx.x + 1; t < kDays; t += kBlock) {
        sx += logf(a[t] / a[t - 1]);
        sy += logf(b[t] / b[t - 1]);
    }
    float mx = reduce(sx, buffer) / kReturns;
    float my = reduce(sy, buffer) / kReturns;
    float xx = 0.0f, yy = 0.0f, xy = 0.0f;
    for (int t = threadIdx.x + 1; t < kDays; t += kBlock) {
        float x = logf(a[t] / a[t - 1]) - mx;
        float y = logf(b[t] / b[t - 1]) - my;
        xx += x * x;
        yy += y * y;
        xy += x * y;
    }
    xx = reduce(xx, buffer) / (kReturns - 1);
    yy = reduce(yy, buffer) / (kReturns - 1);
    xy = reduce(xy, buffer) / (kReturns - 1);
    if (threadIdx.x == 0) {
        covariance[blockIdx.x] = xy;
        correlation[blockIdx.x] = xy / sqrtf(xx * yy);
        beta[blockIdx.x] = xy / xx;
    }
}

int main() {
    const size_t total = size_t(kPairs) * kDays;
    float* h_first = new float[total];
    float* h_second = new float[total];
    float* h_covariance = new float[kPairs];
    float* h_correlation = new float[kPairs];
    float* h_beta = new float[kPairs];
    load("data/first.bin", h_first, total);
    load("data/second.bin", h_second, total);

    float* d_first = nullptr;
    cudaMalloc(&d_first, total * sizeof(float));
    cudaMemcpy(d_first, h_first, total * sizeof(float), cudaMemcpyHostToDevice);
    float* d_second = nullptr;
    cudaMalloc(&d_second, total * sizeof(float));
    cudaMemcpy(d_second, h_second, total * sizeof(float), cudaMemcpyHostToDevice);
    float* d_covariance = nullptr;
    cudaMalloc(&d_covariance, kPairs * sizeof(float));
    float* d_correlation = nullptr;
    cudaMalloc(&d_correlation, kPairs * sizeof(float));
    float* d_beta = nullptr;
    cudaMalloc(&d_beta, kPairs * sizeof(float));

    pair_statistics<<<kPairs, kBlock>>>(d_first, d_second, d_covariance, d_correlation, d_beta);
    cudaError_t status = cudaGetLastError();
    if (status != cudaSuccess) {
        std::cerr << "CUDA error: " << cudaGetErrorString(status) << '\n';
        return 1;
    }
    cudaMemcpy(h_covariance, d_covariance, kPairs * sizeof(float), cudaMemcpyDeviceToHost);
    cudaMemcpy(h_correlation, d_correlation, kPairs * sizeof(float), cudaMemcpyDeviceToHost);
    cudaMemcpy(h_beta, d_beta, kPairs * sizeof(float), cudaMemcpyDeviceToHost);
    save("data/covariance.bin", h_covariance, kPairs);
    save("data/correlation.bin", h_correlation, kPairs);
    save("data/beta.bin", h_beta, kPairs);

    cudaFree(d_first);
    cudaFree(d_second);
    cudaFree(d_covariance);
    cudaFree(d_correlation);
    cudaFree(d_beta);
    delete[] h_first;
    delete[] h_second;
    delete[] h_covariance;
    delete[] h_correlation;
    delete[] h_beta;
    return 0;
}
