#include <fstream>
#include <iostream>
#include <string>
#include <cuda_runtime.h>

void read_binary(const std::string& path, float* data, size_t count) {
    std::ifstream file(path, std::ios::binary);
    file.read(reinterpret_cast<char*>(data), count * sizeof(float));
    if (!file) {
        std::cerr << "cannot read " << path << '\n';
        std::exit(1);
    }
}

void write_binary(const std::string& path, const float* data, size_t count) {
    std::ofstream file(path, std::ios::binary);
    file.write(reinterpret_cast<const char*>(data), count * sizeof(float));
}
//@given

constexpr int kBatch = 3;
constexpr int kChannels = 8;
constexpr int kPlane = 600;

__global__ void dynamic_relu(const float* x, const float* coef, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        const float* k = coef + (i / kPlane) * 4;
        float first = k[0] * x[i] + k[1];
        float second = k[2] * x[i] + k[3];
        y[i] = fmaxf(first, second);
    }
}

int main() {
    const int n = kBatch * kChannels * kPlane;
    const size_t coef_size = kBatch * kChannels * 2 * 2;
    float* h_x = new float[n];
    float* h_coef = new float[coef_size];
    float* h_y = new float[n];
    read_binary("data/x.bin", h_x, n);
    read_binary("data/coef.bin", h_coef, coef_size);

    float* d_x;
    float* d_coef;
    float* d_y;
    cudaMalloc(&d_x, n * sizeof(float));
    cudaMalloc(&d_coef, coef_size * sizeof(float));
    cudaMalloc(&d_y, n * sizeof(float));
    cudaMemcpy(d_x, h_x, n * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_coef, h_coef, coef_size * sizeof(float), cudaMemcpyHostToDevice);

    const int block = 256;
    const int grid = (n + block - 1) / block;
    dynamic_relu<<<grid, block>>>(d_x, d_coef, d_y, n);
    cudaDeviceSynchronize();
    cudaMemcpy(h_y, d_y, n * sizeof(float), cudaMemcpyDeviceToHost);
    write_binary("data/y.bin", h_y, n);
    cudaFree(d_x);
    cudaFree(d_coef);
    cudaFree(d_y);
    delete[] h_x;
    delete[] h_coef;
    delete[] h_y;
    return 0;
}
