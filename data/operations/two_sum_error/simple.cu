#include <fstream>
#include <iostream>
#include <string>

#include <cuda_runtime.h>

void read_binary(const std::string& path, float* buffer, size_t count) {
    std::ifstream file(path, std::ios::binary);
    file.read(reinterpret_cast<char*>(buffer), count * sizeof(float));
    if (!file) {
        std::cerr << "error reading " << path << std::endl;
        exit(1);
    }
}

void write_binary(const std::string& path, const float* buffer, size_t count) {
    std::ofstream file(path, std::ios::binary);
    file.write(reinterpret_cast<const char*>(buffer), count * sizeof(float));
}
//@given

constexpr int N = 12000;

__global__ void two_sum(const float* a, const float* b, float* sum, float* error, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        float x = a[i];
        float y = b[i];
        float s = x + y;
        float y_part = s - x;
        float x_part = s - y_part;
        sum[i] = s;
        error[i] = (x - x_part) + (y - y_part);
    }
}

int main() {
    float* h_a = new float[N];
    float* h_b = new float[N];
    float* h_sum = new float[N];
    float* h_error = new float[N];
    read_binary("data/a.bin", h_a, N);
    read_binary("data/b.bin", h_b, N);

    float* d_a;
    float* d_b;
    float* d_sum;
    float* d_error;
    cudaMalloc(&d_a, N * sizeof(float));
    cudaMalloc(&d_b, N * sizeof(float));
    cudaMalloc(&d_sum, N * sizeof(float));
    cudaMalloc(&d_error, N * sizeof(float));
    cudaMemcpy(d_a, h_a, N * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_b, h_b, N * sizeof(float), cudaMemcpyHostToDevice);

    int threads = 256;
    int blocks = (N + threads - 1) / threads;
    two_sum<<<blocks, threads>>>(d_a, d_b, d_sum, d_error, N);
    cudaError_t err = cudaGetLastError();
    if (err != cudaSuccess) {
        std::cerr << "CUDA error: " << cudaGetErrorString(err) << std::endl;
        return 1;
    }

    cudaMemcpy(h_sum, d_sum, N * sizeof(float), cudaMemcpyDeviceToHost);
    cudaMemcpy(h_error, d_error, N * sizeof(float), cudaMemcpyDeviceToHost);
    write_binary("data/sum.bin", h_sum, N);
    write_binary("data/error.bin", h_error, N);

    cudaFree(d_error);
    cudaFree(d_sum);
    cudaFree(d_b);
    cudaFree(d_a);
    delete[] h_a;
    delete[] h_b;
    delete[] h_sum;
    delete[] h_error;
    return 0;
}
