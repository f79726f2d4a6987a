#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>
#include <vector>
#include <cuda_runtime.h>

template <typename T>
std::vector<T> read_vector(const std::string& path, size_t count) {
    std::vector<T> values(count);
    std::ifstream file(path, std::ios::binary);
    if (!file.read(reinterpret_cast<char*>(values.data()), count * sizeof(T))) {
        std::cerr << "unreadable: " << path << "\n";
        std::exit(1);
    }
    return values;
}

template <typename T>
void write_vector(const std::string& path, const std::vector<T>& values) {
    std::ofstream file(path, std::ios::binary);
    file.write(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T));
}
//@given

constexpr int kBatch = 50;
constexpr int kN = 24;
constexpr int kPacked = kN * (kN + 1) / 2;
constexpr float kInvSqrt2 = 0.70710678f;

__global__ void pack_upper(const float* a, float* packed) {
    int idx = blockIdx.x * blockDim.x + threadIdx.x;
    if (idx >= kBatch * kN * kN) return;
    int j = idx % kN;
    int i = idx / kN % kN;
    int s = idx / (kN * kN);
    if (i > j) return;
    float value = a[idx];
    if (i != j) value = (value + a[(s * kN + j) * kN + i]) * kInvSqrt2;
    packed[s * kPacked + j * (j + 1) / 2 + i] = value;
}

int main() {
    constexpr size_t n_a = (size_t)kBatch * kN * kN;
    constexpr size_t n_packed = (size_t)kBatch * (kN * (kN + 1) / 2);
    auto h_a = read_vector<float>("data/a.bin", n_a);
    std::vector<float> h_packed(n_packed);

    float* d_a = nullptr;
    float* d_packed = nullptr;
    cudaMalloc(&d_a, n_a * sizeof(float));
    cudaMalloc(&d_packed, n_packed * sizeof(float));
    cudaMemcpy(d_a, h_a.data(), n_a * sizeof(float), cudaMemcpyHostToDevice);

    pack_upper<<<(kBatch * kN * kN + 255) / 256, 256>>>(d_a, d_packed);
    if (auto err = cudaDeviceSynchronize(); err != cudaSuccess) {
        std::cerr << cudaGetErrorString(err) << "\n";
        return 1;
    }
    cudaMemcpy(h_packed.data(), d_packed, n_packed * sizeof(float), cudaMemcpyDeviceToHost);
    write_vector("data/packed.bin", h_packed);
    cudaFree(d_a);
    cudaFree(d_packed);
    return 0;
}
