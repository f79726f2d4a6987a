#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>
#include <vector>
#include <cuda_runtime.h>

template <typename T>
std::vector<T> load(const std::string& path, size_t count) {
    std::vector<T> values(count);
    std::ifstream in(path, std::ios::binary);
    in.read(reinterpret_cast<char*>(values.data()), count * sizeof(T));
    if (!in) {
        std::cerr << "could not read " << path << std::endl;
        std::exit(1);
    }
    return values;
}

template <typename T>
void store(const std::string& path, const std::vector<T>& values) {
    std::ofstream in(path, std::ios::binary);
    in.write(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T));
}
//@given

const int kN = 18000;

__global__ void poisson_nll(const float* log_rate, const float* count, float* loss, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        float x = log_rate[i], k = count[i];
        float value = expf(x) - k * x;
        if (k > 1.0f) value += k * logf(k) - k + 0.5f * logf(6.2831853f * k);
        loss[i] = value;
    }
}

constexpr auto ceil_div(int a, int b) { return (a + b - 1) / b; }

int main() {
    auto h_log_rate = load<float>("data/log_rate.bin", kN);
    auto hCount = load<float>("data/count.bin", kN);
    std::vector<float> hLoss(kN);

    float* d_log_rate = nullptr;
    float* d_count = nullptr;
    float* d_loss = nullptr;
    cudaMalloc(&d_log_rate, kN * sizeof(float));
    cudaMalloc(&d_count, kN * sizeof(float));
    cudaMalloc(&d_loss, kN * sizeof(float));
    cudaMemcpy(d_log_rate, h_log_rate.data(), kN * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_count, hCount.data(), kN * sizeof(float), cudaMemcpyHostToDevice);

    poisson_nll<<<ceil_div(kN, 256), 256>>>(d_log_rate, d_count, d_loss, kN);

    const auto status = cudaGetLastError();
    if (status != cudaSuccess) {
        std::cerr << "CUDA: " << cudaGetErrorString(status) << std::endl;
        return 1;
    }
    cudaMemcpy(hLoss.data(), d_loss, kN * sizeof(float), cudaMemcpyDeviceToHost);
    store("data/loss.bin", hLoss);
    cudaFree(d_log_rate);
    cudaFree(d_count);
    cudaFree(d_loss);
    return 0;
}
