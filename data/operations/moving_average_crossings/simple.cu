#include <fstream>
#include <iostream>
#include <vector>
#include <cuda_runtime.h>

const int ASSETS = 100;
const int DAYS = 200;

__global__ void crossing_kernel(const float* prices, float* gap, int* crossings) {
    int a = blockIdx.x * blockDim.x + threadIdx.x;
    if (a >= ASSETS) return;
    const float* p = prices + (size_t)a * DAYS;
    float* g = gap + (size_t)a * DAYS;
    float fast = p[0], slow = p[0];
    int count = 0;
    g[0] = 0.0f;
    for (int t = 1; t < DAYS; ++t) {
        fast += 2.0f / 13.0f * (p[t] - fast);
        slow += 2.0f / 27.0f * (p[t] - slow);
        g[t] = fast - slow;
        if (t >= 2 && (g[t] > 0.0f) != (g[t - 1] > 0.0f)) ++count;
    }
    crossings[a] = count;
}

int main() {
    std::vector<float> h_prices(ASSETS * DAYS);
    std::vector<float> h_gap(ASSETS * DAYS);
    std::vector<int> h_crossings(ASSETS);

    std::ifstream in("data/prices.bin", std::ios::binary);
    in.read(reinterpret_cast<char*>(h_prices.data()), h_prices.size() * sizeof(float));
    if (!in) {
        std::cerr << "could not read data/prices.bin" << std::endl;
        return 1;
    }

    float* d_prices = nullptr;
    float* d_gap = nullptr;
    int* d_crossings = nullptr;
    cudaMalloc(&d_prices, sizeof(float) * ASSETS * DAYS);
    cudaMalloc(&d_gap, sizeof(float) * ASSETS * DAYS);
    cudaMalloc(&d_crossings, sizeof(int) * ASSETS);
    cudaMemcpy(d_prices, h_prices.data(), sizeof(float) * ASSETS * DAYS, cudaMemcpyHostToDevice);

    int threads = 64;
    crossing_kernel<<<(ASSETS + threads - 1) / threads, threads>>>(d_prices, d_gap, d_crossings);

    cudaError_t err = cudaDeviceSynchronize();
    if (err != cudaSuccess) {
        std::cerr << "CUDA error: " << cudaGetErrorString(err) << std::endl;
        return 1;
    }
    cudaMemcpy(h_gap.data(), d_gap, sizeof(float) * ASSETS * DAYS, cudaMemcpyDeviceToHost);
    cudaMemcpy(h_crossings.data(), d_crossings, sizeof(int) * ASSETS, cudaMemcpyDeviceToHost);
    std::ofstream out_gap("data/gap.bin", std::ios::binary);
    out_gap.write(reinterpret_cast<const char*>(h_gap.data()), sizeof(float) * ASSETS * DAYS);
    std::ofstream out_crossings("data/crossings.bin", std::ios::binary);
    out_crossings.write(reinterpret_cast<const char*>(h_crossings.data()), sizeof(int) * ASSETS);

    cudaFree(d_prices);
    cudaFree(d_gap);
    cudaFree(d_crossings);
    return 0;
}
