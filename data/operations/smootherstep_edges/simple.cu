#include <fstream>
#include <iostream>
#include <vector>
#include <cuda_runtime.h>

const int ROWS = 50;
const int COLS = 240;
const int COUNT = ROWS * COLS;

__global__ void smoother(const float* x, const float* low, const float* high, float* s, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        float t = (x[i] - low[i]) / (high[i] - low[i]);
        t = fminf(fmaxf(t, 0.0f), 1.0f);
        s[i] = t * t * t * (t * (6.0f * t - 15.0f) + 10.0f);
    }
}

int main(void) {
    std::vector<float> h_x(COUNT);
    std::vector<float> h_low(COUNT);
    std::vector<float> h_high(COUNT);
    std::vector<float> h_s(COUNT);
    std::ifstream x_file("data/x.bin", std::ios::binary);
    x_file.read(reinterpret_cast<char*>(h_x.data()), COUNT * sizeof(float));
    if (!x_file) {
        std::cerr << "failed to read data/x.bin" << std::endl;
        return 1;
    }
    std::ifstream low_file("data/low.bin", std::ios::binary);
    low_file.read(reinterpret_cast<char*>(h_low.data()), COUNT * sizeof(float));
    if (!low_file) {
        std::cerr << "failed to read data/low.bin" << std::endl;
        return 1;
    }
    std::ifstream fin_high("data/high.bin", std::ios::binary);
    fin_high.read(reinterpret_cast<char*>(h_high.data()), COUNT * sizeof(float));
    if (!fin_high) {
        std::cerr << "failed to read data/high.bin" << std::endl;
        return 1;
    }

    float *d_x = nullptr, *d_low = nullptr, *d_high = nullptr, *d_s = nullptr;
    cudaMalloc(&d_x, COUNT * sizeof(float));
    cudaMalloc(&d_low, COUNT * sizeof(float));
    cudaMalloc(&d_high, COUNT * sizeof(float));
    cudaMalloc(&d_s, COUNT * sizeof(float));
    cudaMemcpy(d_x, h_x.data(), COUNT * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_low, h_low.data(), COUNT * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_high, h_high.data(), COUNT * sizeof(float), cudaMemcpyHostToDevice);

    const int threads = 256;
    const int blocks = (COUNT + threads - 1) / threads;
    smoother<<<blocks, threads>>>(d_x, d_low, d_high, d_s, COUNT);
    cudaError_t err = cudaGetLastError();
    if (err != cudaSuccess) {
        std::cerr << "CUDA error: " << cudaGetErrorString(err) << std::endl;
        return 1;
    }

    cudaMemcpy(h_s.data(), d_s, COUNT * sizeof(float), cudaMemcpyDeviceToHost);
    std::ofstream result_file("data/s.bin", std::ios::binary);
    result_file.write(reinterpret_cast<char*>(h_s.data()), COUNT * sizeof(float));
    cudaFree(d_x);
    cudaFree(d_low);
    cudaFree(d_high);
    cudaFree(d_s);
    return 0;
}
