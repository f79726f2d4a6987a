#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>
#include <vector>
#include <cuda_runtime.h>

template <typename T>
std::vector<T> load_tensor(const std::string& path, size_t count) {
    std::vector<T> values(count);
    std::ifstream file(path, std::ios::binary);
    if (!file.read(reinterpret_cast<char*>(values.data()), count * sizeof(T))) {
        std::cerr << "unreadable: " << path << "\n";
        std::exit(1);
    }
    return values;
}

template <typename T>
void store_tensor(const std::string& path, const std::vector<T>& values) {
    std::ofstream file(path, std::ios::binary);
    file.write(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T));
}
//@given

constexpr int kCount = 2000;

__global__ void congruence(const float* w, const float* m, float* result) {
    int s = blockIdx.x * blockDim.x + threadIdx.x;
    if (s >= kCount) return;
    float x = w[3 * s], y = w[3 * s + 1], z = w[3 * s + 2];
    float W[3][3] = {{0.0f, -z, y}, {z, 0.0f, -x}, {-y, x, 0.0f}};
    float t[3][3];
    for (int i = 0; i < 3; ++i) {
        for (int j = 0; j < 3; ++j) {
            float sum = 0.0f;
            for (int k = 0; k < 3; ++k) sum += W[i][k] * m[9 * s + 3 * k + j];
            t[i][j] = sum;
        }
    }
    for (int i = 0; i < 3; ++i) {
        for (int j = 0; j < 3; ++j) {
            float sum = 0.0f;
            for (int k = 0; k < 3; ++k) sum += t[i][k] * W[j][k];
            result[9 * s + 3 * i + j] = sum;
        }
    }
}

int main() {
    constexpr size_t n_w = (size_t)kCount * 3;
    constexpr size_t n_m = (size_t)kCount * 3 * 3;
    auto w = load_tensor<float>("data/w.bin", n_w);
    auto m = load_tensor<float>("data/m.bin", n_m);
    std::vector<float> result(n_m);

    float* dev_w = nullptr;
    float* dev_m = nullptr;
    float* dev_result = nullptr;
    cudaMalloc(&dev_w, n_w * sizeof(float));
    cudaMalloc(&dev_m, n_m * sizeof(float));
    cudaMalloc(&dev_result, n_m * sizeof(float));
    cudaMemcpy(dev_w, w.data(), n_w * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(dev_m, m.data(), n_m * sizeof(float), cudaMemcpyHostToDevice);

    congruence<<<(kCount + 255) / 256, 256>>>(dev_w, dev_m, dev_result);
    if (auto err = cudaDeviceSynchronize(); err != cudaSuccess) {
        std::cerr << cudaGetErrorString(err) << "\n";
        return 1;
    }
    cudaMemcpy(result.data(), dev_result, n_m * sizeof(float), cudaMemcpyDeviceToHost);
    store_tensor("data/result.bin", result);
    cudaFree(dev_w);
    cudaFree(dev_m);
    cudaFree(dev_result);
    return 0;
}
