#include <cuda_runtime.h>
#include <fstream>
#include <iostream>
#include <vector>

constexpr int kRows = 60;
constexpr int kCols = 333;

__global__ void rank_one(const float* a, const float* x, const float* y, const float* coeffs, float* updated) {
    int idx = blockIdx.x * blockDim.x + threadIdx.x;
    if (idx < kRows * kCols) {
        int i = idx / kCols;
        int j = idx % kCols;
        updated[idx] = coeffs[1] * a[idx] + coeffs[0] * x[i] * y[j];
    }
}

int main() {
    const size_t a_count = (size_t)kRows * kCols;
    std::vector<float> h_a(a_count), h_x(kRows), h_y(kCols), h_coeffs(2), h_updated(a_count);
    std::ifstream a_file("data/a.bin", std::ios::binary);
    a_file.read(reinterpret_cast<char*>(h_a.data()), a_count * sizeof(float));
    if (!a_file) {
        std::cerr << "failed to load data/a.bin" << std::endl;
        return 1;
    }
    std::ifstream x_file("data/x.bin", std::ios::binary);
    x_file.read(reinterpret_cast<char*>(h_x.data()), kRows * sizeof(float));
    if (!x_file) {
        std::cerr << "failed to load data/x.bin" << std::endl;
        return 1;
    }
    std::ifstream y_file("data/y.bin", std::ios::binary);
    y_file.read(reinterpret_cast<char*>(h_y.data()), kCols * sizeof(float));
    if (!y_file) {
        std::cerr << "could not read data/y.bin" << std::endl;
        return 1;
    }
    std::ifstream coeffs_file("data/coeffs.bin", std::ios::binary);
    coeffs_file.read(reinterpret_cast<char*>(h_coeffs.data()), 2 * sizeof(float));
    if (!coeffs_file) {
        std::cerr << "could not read data/coeffs.bin" << std::endl;
        return 1;
    }

    float *d_a, *d_x, *d_y, *d_coeffs, *d_updated;
    cudaMalloc(&d_a, a_count * sizeof(float));
    cudaMemcpy(d_a, h_a.data(), a_count * sizeof(float), cudaMemcpyHostToDevice);
    cudaMalloc(&d_x, kRows * sizeof(float));
    cudaMemcpy(d_x, h_x.data(), kRows * sizeof(float), cudaMemcpyHostToDevice);
    cudaMalloc(&d_y, kCols * sizeof(float));
    cudaMemcpy(d_y, h_y.data(), kCols * sizeof(float), cudaMemcpyHostToDevice);
    cudaMalloc(&d_coeffs, 2 * sizeof(float));
    cudaMemcpy(d_coeffs, h_coeffs.data(), 2 * sizeof(float), cudaMemcpyHostToDevice);
    cudaMalloc(&d_updated, a_count * sizeof(float));

    const int threads = 256;
    const int blocks = (kRows * kCols + threads - 1) / threads;
    rank_one<<<blocks, threads>>>(d_a, d_x, d_y, d_coeffs, d_updated);
    cudaError_t status = cudaDeviceSynchronize();
    if (status != cudaSuccess) {
        std::cerr << "launch failed: " << cudaGetErrorString(status) << std::endl;
        return 1;
    }

    cudaMemcpy(h_updated.data(), d_updated, a_count * sizeof(float), cudaMemcpyDeviceToHost);
    std::ofstream updated_out("data/updated.bin", std::ios::binary);
    updated_out.write(reinterpret_cast<const char*>(h_updated.data()), a_count * sizeof(float));

    cudaFree(d_a);
    cudaFree(d_x);
    cudaFree(d_y);
    cudaFree(d_coeffs);
    cudaFree(d_updated);
    return 0;
}
