#include <cuda_runtime.h>
#include <fstream>
#include <iostream>
#include <vector>

constexpr int kRows = 45;
constexpr int kCols = 444;
constexpr int kTotal = kRows * kCols;

__global__ void round_to_power(const float* x, float* y, int* exponent, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float v = x[i];
    if (v < 1.0f / 256.0f) {
        y[i] = 0.0f;
        exponent[i] = -128;
        return;
    }
    int e;
    float m = frexpf(v, &e);  // v = m * 2^e with 0.5 <= m < 1
    e -= 1;
    if (m >= 0.75f) e += 1;
    if (e > 3) e = 3;
    y[i] = ldexpf(1.0f, e);
    exponent[i] = e;
}

void solve(const float* d_x, float* d_y, int* d_exponent) {
    int threads = 256;
    int blocks = (kTotal + threads - 1) / threads;
    round_to_power<<<blocks, threads>>>(d_x, d_y, d_exponent, kTotal);
}

int main() {
    std::vector<float> h_x(kTotal);
    std::vector<float> h_y(kTotal);
    std::vector<int> h_exponent(kTotal);
    std::ifstream in("data/x.bin", std::ios::binary);
    if (!in.read(reinterpret_cast<char*>(h_x.data()), kTotal * sizeof(float))) {
        std::cerr << "cannot read data/x.bin" << std::endl;
        return 1;
    }

    float *d_x, *d_y;
    int* d_exponent;
    cudaMalloc(&d_x, kTotal * sizeof(float));
    cudaMalloc(&d_y, kTotal * sizeof(float));
    cudaMalloc(&d_exponent, kTotal * sizeof(int));
    cudaMemcpy(d_x, h_x.data(), kTotal * sizeof(float), cudaMemcpyHostToDevice);

    solve(d_x, d_y, d_exponent);
    cudaMemcpy(h_y.data(), d_y, kTotal * sizeof(float), cudaMemcpyDeviceToHost);
    cudaMemcpy(h_exponent.data(), d_exponent, kTotal * sizeof(int), cudaMemcpyDeviceToHost);

    std::ofstream out_y("data/y.bin", std::ios::binary);
    out_y.write(reinterpret_cast<const char*>(h_y.data()), kTotal * sizeof(float));
    std::ofstream out_exponent("data/exponent.bin", std::ios::binary);
    out_exponent.write(reinterpret_cast<const char*>(h_exponent.data()), kTotal * sizeof(int));
    cudaFree(d_x);
    cudaFree(d_y);
    cudaFree(d_exponent);
    return 0;
}
