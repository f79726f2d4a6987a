#include <climits>
#include <fstream>
#include <iostream>
#include <vector>
#include <cuda_runtime.h>

constexpr int N = 9000;
constexpr int GROUPS = 100;

__global__ void init(int* low, int* high) {
    int g = blockIdx.x * blockDim.x + threadIdx.x;
    if (g < GROUPS) {
        low[g] = INT_MAX;
        high[g] = INT_MIN;
    }
}

__global__ void extremes(const int* value, const int* label, const int* sign, int* low, int* high) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < N) {
        int g = label[i];
        int v = value[i] * sign[g];
        atomicMin(&low[g], v);
        atomicMax(&high[g], v);
    }
}

static void compute(const int* dev_value, const int* dev_label, const int* dev_sign, int* dev_low, int* dev_high) {
    init<<<(GROUPS + 256 - 1) / 256, 256>>>(dev_low, dev_high);
    extremes<<<(N + 256 - 1) / 256, 256>>>(dev_value, dev_label, dev_sign, dev_low, dev_high);
}

int main() {
    std::vector<int> host_value(N);
    std::vector<int> host_label(N);
    std::vector<int> host_sign(GROUPS);
    std::vector<int> host_low(GROUPS);
    std::vector<int> host_high(GROUPS);
    std::ifstream in_value("data/value.bin", std::ios::binary);
    if (!in_value.read(reinterpret_cast<char*>(host_value.data()), N * sizeof(int))) {
        std::cerr << "no data/value.bin\n";
        return 1;
    }
    std::ifstream in_label("data/label.bin", std::ios::binary);
    if (!in_label.read(reinterpret_cast<char*>(host_label.data()), N * sizeof(int))) {
        std::cerr << "no data/label.bin\n";
        return 1;
    }
    std::ifstream in_sign("data/sign.bin", std::ios::binary);
    if (!in_sign.read(reinterpret_cast<char*>(host_sign.data()), GROUPS * sizeof(int))) {
        std::cerr << "no data/sign.bin\n";
        return 1;
    }

    int* dev_value;
    int* dev_label;
    int* dev_sign;
    int* dev_low = nullptr;
    int* dev_high = nullptr;
    cudaMalloc(&dev_value, N * sizeof(int));
    cudaMalloc(&dev_label, N * sizeof(int));
    cudaMalloc(&dev_sign, GROUPS * sizeof(int));
    cudaMalloc(&dev_low, GROUPS * sizeof(int));
    cudaMalloc(&dev_high, GROUPS * sizeof(int));
    cudaMemcpy(dev_value, host_value.data(), N * sizeof(int), cudaMemcpyHostToDevice);
    cudaMemcpy(dev_label, host_label.data(), N * sizeof(int), cudaMemcpyHostToDevice);
    cudaMemcpy(dev_sign, host_sign.data(), GROUPS * sizeof(int), cudaMemcpyHostToDevice);

    compute(dev_value, dev_label, dev_sign, dev_low, dev_high);
    if (cudaDeviceSynchronize() != cudaSuccess) {
        std::cerr << "CUDA failure: " << cudaGetErrorString(cudaGetLastError()) << "\n";
        return 1;
    }

    cudaMemcpy(host_low.data(), dev_low, GROUPS * sizeof(int), cudaMemcpyDeviceToHost);
    cudaMemcpy(host_high.data(), dev_high, GROUPS * sizeof(int), cudaMemcpyDeviceToHost);
    std::ofstream out_low("data/low.bin", std::ios::binary);
    out_low.write(reinterpret_cast<const char*>(host_low.data()), GROUPS * sizeof(int));
    std::ofstream out_high("data/high.bin", std::ios::binary);
    out_high.write(reinterpret_cast<const char*>(host_high.data()), GROUPS * sizeof(int));
    cudaFree(dev_value);
    cudaFree(dev_label);
    cudaFree(dev_sign);
    cudaFree(dev_low);
    cudaFree(dev_high);
    return 0;
}
