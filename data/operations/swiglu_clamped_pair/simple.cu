#include <fstream>
#include <iostream>
#include <vector>
#include <cuda_runtime.h>

constexpr int kTokens = 20;
constexpr int kDim = 400;
constexpr int kTotal = kTokens * kDim;
#define LIMIT 7.0f

__global__ void clamped_swiglu(const float* gate, const float* up, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        float g = fminf(gate[i], LIMIT);
        float u = fminf(fmaxf(up[i], -LIMIT), LIMIT);
        float s = 1.0f / (1.0f + expf(-1.702f * g));
        y[i] = g * s * (u + 1.0f);
    }
}

int main() {
    std::vector<float> h_gate(kTotal);
    std::vector<float> h_up(kTotal);
    std::vector<float> h_y(kTotal);
    std::ifstream in_gate("data/gate.bin", std::ios::binary);
    in_gate.read(reinterpret_cast<char*>(h_gate.data()), kTotal * sizeof(float));
    if (!in_gate) {
        std::cerr << "could not read data/gate.bin" << std::endl;
        return 1;
    }
    std::ifstream up_file("data/up.bin", std::ios::binary);
    up_file.read(reinterpret_cast<char*>(h_up.data()), kTotal * sizeof(float));
    if (!up_file) {
        std::cerr << "missing or incomplete file data/up.bin" << std::endl;
        return 1;
    }

    float *d_gate, *d_up, *d_y;
    cudaMalloc(&d_gate, kTotal * sizeof(float));
    cudaMalloc(&d_up, kTotal * sizeof(float));
    cudaMalloc(&d_y, kTotal * sizeof(float));
    cudaMemcpy(d_gate, h_gate.data(), kTotal * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_up, h_up.data(), kTotal * sizeof(float), cudaMemcpyHostToDevice);

    const int threads = 256;
    const int blocks = (kTotal + threads - 1) / threads;
    clamped_swiglu<<<blocks, threads>>>(d_gate, d_up, d_y, kTotal);
    cudaError_t error = cudaGetLastError();
    if (error != cudaSuccess) {
        std::cerr << "CUDA error: " << cudaGetErrorString(error) << std::endl;
        return 1;
    }

    cudaMemcpy(h_y.data(), d_y, kTotal * sizeof(float), cudaMemcpyDeviceToHost);
    std::ofstream result_file("data/y.bin", std::ios::binary);
    result_file.write(reinterpret_cast<char*>(h_y.data()), kTotal * sizeof(float));
    cudaFree(d_gate);
    cudaFree(d_up);
    cudaFree(d_y);
    return 0;
}
