#include <cuda_runtime.h>
#include <fstream>
#include <iostream>
#include <vector>

constexpr int ASSETS = 50;
constexpr int DAYS = 250;
const size_t elements = (size_t)ASSETS * DAYS;

__global__ void macd_kernel(const float* prices, float* macd, float* histogram) {
    int a = blockIdx.x * blockDim.x + threadIdx.x;
    if (a >= ASSETS) return;
    const float* p = prices + (size_t)a * DAYS;
    float fast = p[0], slow = p[0], signal = 0.0f;
    for (int t = 0; t < DAYS; t++) {
        fast += 2.0f / 13.0f * (p[t] - fast);
        slow += 2.0f / 27.0f * (p[t] - slow);
        float line = fast - slow;
        signal += 0.2f * (line - signal);
        macd[(size_t)a * DAYS + t] = line;
        histogram[(size_t)a * DAYS + t] = line - signal;
    }
}

void solve(const float* d_prices, float* d_macd, float* d_histogram) {
    macd_kernel<<<(ASSETS + 63) / 64, 64>>>(d_prices, d_macd, d_histogram);
}

int main() {
    std::vector<float> prices(elements);
    std::vector<float> macd(elements);
    std::vector<float> histogram(elements);
    std::ifstream prices_stream("data/prices.bin", std::ios::binary);
    if (!prices_stream.read((char*)prices.data(), elements * sizeof(float))) {
        std::cerr << "missing data/prices.bin\n";
        return 1;
    }

    float* d_prices = nullptr;
    cudaMalloc(&d_prices, elements * sizeof(float));
    cudaMemcpy(d_prices, prices.data(), elements * sizeof(float), cudaMemcpyHostToDevice);
    float* d_macd = nullptr;
    cudaMalloc(&d_macd, elements * sizeof(float));
    float* d_histogram = nullptr;
    cudaMalloc(&d_histogram, elements * sizeof(float));

    solve(d_prices, d_macd, d_histogram);
    cudaError_t status = cudaGetLastError();
    if (status != cudaSuccess) {
        std::cerr << "kernel failed: " << cudaGetErrorString(status) << '\n';
        return 1;
    }
    cudaMemcpy(macd.data(), d_macd, elements * sizeof(float), cudaMemcpyDeviceToHost);
    cudaMemcpy(histogram.data(), d_histogram, elements * sizeof(float), cudaMemcpyDeviceToHost);

    std::ofstream("data/macd.bin", std::ios::binary).write((char*)macd.data(), elements * sizeof(float));
    std::ofstream("data/histogram.bin", std::ios::binary).write((char*)histogram.data(),
            elements * sizeof(float));
    cudaFree(d_prices);
    cudaFree(d_macd);
    cudaFree(d_histogram);
    return 0;
}
