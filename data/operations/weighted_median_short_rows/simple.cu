#include <cuda_runtime.h>
#include <cfloat>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>

template <typename T>
void load_array(const std::string& path, T* dst, size_t size) {
    std::ifstream stream(path, std::ios::binary);
    if (!stream.is_open()) {
        std::cerr << "Cannot open " << path << std::endl;
        exit(1);
    }
    stream.read(reinterpret_cast<char*>(dst), size * sizeof(T));
}

template <typename T>
void save_array(const std::string& path, const T* dst, size_t size) {
    std::ofstream file(path, std::ios::binary);
    file.write(reinterpret_cast<const char*>(dst), size * sizeof(T));
}
//@given

constexpr int kRows = 150;
constexpr int kWidth = 45;
constexpr int kBlock = 128;

__global__ void weighted_median(const float* x, const int* weight, float* median) {
    __shared__ float value[kWidth];
    __shared__ int w[kWidth];
    __shared__ float best[kBlock];
    int t = threadIdx.x;
    size_t base = (size_t)blockIdx.x * kWidth;
    for (int i = t; i < kWidth; i += kBlock) {
        value[i] = x[base + i];
        w[i] = weight[base + i];
    }
    __syncthreads();
    float smallest = FLT_MAX;
    for (int i = t; i < kWidth; i += kBlock) {
        int below = 0, total = 0;
        for (int j = 0; j < kWidth; ++j) {
            total += w[j];
            if (value[j] <= value[i]) below += w[j];
        }
        if (2 * below >= total) smallest = fminf(smallest, value[i]);
    }
    best[t] = smallest;
    __syncthreads();
    for (int s = kBlock / 2; s > 0; s /= 2) {
        if (t < s) best[t] = fminf(best[t], best[t + s]);
        __syncthreads();
    }
    if (t == 0) median[blockIdx.x] = best[0];
}

int main() {
    float* h_x = new float[kRows * kWidth];
    load_array("data/x.bin", h_x, kRows * kWidth);
    int* h_weight = new int[kRows * kWidth];
    load_array("data/weight.bin", h_weight, kRows * kWidth);
    float* h_median = new float[kRows];

    float *d_x, *d_median;
    int* d_weight;
    cudaMalloc(&d_x, kRows * kWidth * sizeof(float));
    cudaMalloc(&d_weight, kRows * kWidth * sizeof(int));
    cudaMalloc(&d_median, kRows * sizeof(float));
    cudaMemcpy(d_x, h_x, kRows * kWidth * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_weight, h_weight, kRows * kWidth * sizeof(int), cudaMemcpyHostToDevice);

    weighted_median<<<kRows, kBlock>>>(d_x, d_weight, d_median);
    cudaError_t err = cudaGetLastError();
    if (err != cudaSuccess) {
        std::cerr << "launch: " << cudaGetErrorString(err) << std::endl;
        return 1;
    }

    cudaMemcpy(h_median, d_median, kRows * sizeof(float), cudaMemcpyDeviceToHost);
    save_array("data/median.bin", h_median, kRows);

    cudaFree(d_x);
    cudaFree(d_weight);
    cudaFree(d_median);
    delete[] h_x;
    delete[] h_weight;
    delete[] h_median;
    return 0;
}
