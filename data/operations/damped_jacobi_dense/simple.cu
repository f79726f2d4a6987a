#include <cuda_runtime.h>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>
#include <vector>

template <typename T>
std::vector<T> load(const std::string& path, size_t count) {
    std::vector<T> values(count);
    std::ifstream file(path, std::ios::binary);
    if (!file.read(reinterpret_cast<char*>(values.data()), count * sizeof(T))) {
        std::cerr << "cannot read " << path << "\n";
        std::exit(1);
    }
    return values;
}

template <typename T>
void store(const std::string& path, const std::vector<T>& values) {
    std::ofstream file(path, std::ios::binary);
    file.write(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T));
}
//@given

constexpr int kN = 100;

__global__ void compute_residual(const float* a, const float* b, const float* x, float* residual) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= kN) return;
    float sum = b[i];
    for (int j = 0; j < kN; ++j) sum -= a[i * kN + j] * x[j];
    residual[i] = sum;
}

__global__ void correct(const float* a, const float* residual, float* x) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < kN) x[i] += 0.8f * residual[i] / a[i * kN + i];
}

int main() {
    auto host_a = load<float>("data/a.bin", kN * kN);
    auto host_b = load<float>("data/b.bin", kN);
    auto host_x0 = load<float>("data/x0.bin", kN);
    std::vector<float> host_x(kN);
    std::vector<float> host_residual(kN);

    float* d_a = nullptr;
    float* d_b = nullptr;
    float* d_x0 = nullptr;
    float* d_x = nullptr;
    float* d_residual = nullptr;
    cudaMalloc(&d_a, sizeof(float) * kN * kN);
    cudaMalloc(&d_b, kN * sizeof(float));
    cudaMalloc(&d_x0, kN * sizeof(float));
    cudaMalloc(&d_x, kN * sizeof(float));
    cudaMalloc(&d_residual, kN * sizeof(float));
    cudaMemcpy(d_a, host_a.data(), sizeof(float) * kN * kN, cudaMemcpyHostToDevice);
    cudaMemcpy(d_b, host_b.data(), kN * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_x0, host_x0.data(), kN * sizeof(float), cudaMemcpyHostToDevice);

    int threads = 128;
    int blocks = (kN + threads - 1) / threads;
    cudaMemcpy(d_x, d_x0, kN * sizeof(float), cudaMemcpyDeviceToDevice);
    for (int sweep = 0; sweep < 8; ++sweep) {
        compute_residual<<<blocks, threads>>>(d_a, d_b, d_x, d_residual);
        correct<<<blocks, threads>>>(d_a, d_residual, d_x);
    }
    compute_residual<<<blocks, threads>>>(d_a, d_b, d_x, d_residual);
    if (auto err = cudaDeviceSynchronize(); err != cudaSuccess) {
        std::cerr << cudaGetErrorString(err) << "\n";
        return 1;
    }
    cudaMemcpy(host_x.data(), d_x, kN * sizeof(float), cudaMemcpyDeviceToHost);
    store("data/x.bin", host_x);
    cudaMemcpy(host_residual.data(), d_residual, kN * sizeof(float), cudaMemcpyDeviceToHost);
    store("data/residual.bin", host_residual);
    cudaFree(d_a);
    cudaFree(d_b);
    cudaFree(d_x0);
    cudaFree(d_x);
    cudaFree(d_residual);
    return 0;
}
