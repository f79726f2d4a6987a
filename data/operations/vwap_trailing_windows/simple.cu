#include <cuda_runtime.h>
#include <fstream>
#include <iostream>
#include <vector>

constexpr int kSymbols = 30;
constexpr int kTicks = 400;
constexpr int kWindow = 20;

__global__ void window_vwap(const float* price, const float* volume, float* vwap, float* deviation) {
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    if (t >= kTicks) return;
    size_t row = (size_t)blockIdx.y * kTicks;
    int first = max(0, t - kWindow + 1);
    float total = 0.0f, weighted = 0.0f;
    for (int k = first; k <= t; k++) {
        total += volume[row + k];
        weighted += volume[row + k] * price[row + k];
    }
    float mean = total > 0.0f ? weighted / total : price[row + t];
    float squares = 0.0f;
    for (int k = first; k <= t; k++) {
        float d = price[row + k] - mean;
        squares += volume[row + k] * d * d;
    }
    vwap[row + t] = mean;
    deviation[row + t] = total > 0.0f ? sqrtf(squares / total) : 0.0f;
}

int main() {
    size_t count = (size_t)kSymbols * kTicks;
    std::vector<float> h_price(count);
    std::vector<float> h_volume(count);
    std::vector<float> h_vwap(count);
    std::vector<float> h_deviation(count);
    std::ifstream price_file("data/price.bin", std::ios::binary);
    price_file.read((char*)h_price.data(), count * sizeof(float));
    if (!price_file) {
        std::cerr << "cannot read data/price.bin\n";
        return 1;
    }
    std::ifstream volume_file("data/volume.bin", std::ios::binary);
    volume_file.read((char*)h_volume.data(), count * sizeof(float));
    if (!volume_file) {
        std::cerr << "cannot read data/volume.bin\n";
        return 1;
    }

    float* d_price = nullptr;
    cudaMalloc(&d_price, count * sizeof(float));
    cudaMemcpy(d_price, h_price.data(), count * sizeof(float), cudaMemcpyHostToDevice);
    float* d_volume = nullptr;
    cudaMalloc(&d_volume, count * sizeof(float));
    cudaMemcpy(d_volume, h_volume.data(), count * sizeof(float), cudaMemcpyHostToDevice);
    float* d_vwap = nullptr;
    cudaMalloc(&d_vwap, count * sizeof(float));
    float* d_deviation = nullptr;
    cudaMalloc(&d_deviation, count * sizeof(float));

    dim3 grid((kTicks + 127) / 128, kSymbols);
    window_vwap<<<grid, 128>>>(d_price, d_volume, d_vwap, d_deviation);
    cudaError_t err = cudaDeviceSynchronize();
    if (err != cudaSuccess) {
        std::cerr << "CUDA: " << cudaGetErrorString(err) << std::endl;
        return 1;
    }
    cudaMemcpy(h_vwap.data(), d_vwap, count * sizeof(float), cudaMemcpyDeviceToHost);
    cudaMemcpy(h_deviation.data(), d_deviation, count * sizeof(float), cudaMemcpyDeviceToHost);

    std::ofstream vwap_file("data/vwap.bin", std::ios::binary);
    vwap_file.write((const char*)h_vwap.data(), count * sizeof(float));
    std::ofstream deviation_file("data/deviation.bin", std::ios::binary);
    deviation_file.write((const char*)h_deviation.data(), count * sizeof(float));

    cudaFree(d_price);
    cudaFree(d_volume);
    cudaFree(d_vwap);
    cudaFree(d_deviation);
    return 0;
}
