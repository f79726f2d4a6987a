#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>
#include <vector>
#include <cuda_runtime.h>

template <typename T>
std::vector<T> load(const std::string& path, size_t count) {
    std::vector<T> v(count);
    std::ifstream in(path, std::ios::binary);
    if (!in.read(reinterpret_cast<char*>(v.data()), count * sizeof(T))) {
        std::cerr << "failed to load " << path << "\n";
        std::exit(1);
    }
    return v;
}

template <typename T>
void store(const std::string& path, const std::vector<T>& v) {
    std::ofstream out(path, std::ios::binary);
    out.write(reinterpret_cast<const char*>(v.data()), v.size() * sizeof(T));
}
//@given

constexpr int kProjects = 300;
constexpr int kFlows = 40;

__global__ void present_value(const float* amounts, const int* days, const float* rate,
                              float* value, float* positive_share) {
    int p = blockIdx.x * blockDim.x + threadIdx.x;
    if (p >= kProjects) return;
    float plus = 0.0f, minus = 0.0f;
    for (int k = 0; k < kFlows; ++k) {
        int i = p * kFlows + k;
        float worth = amounts[i] / powf(1.0f + rate[p], days[i] / 365.0f);
        if (worth > 0.0f) plus += worth;
        else minus -= worth;
    }
    value[p] = plus - minus;
    positive_share[p] = plus / (plus + minus);
}

int main() {
    const auto h_amounts = load<float>("data/amounts.bin", kProjects * kFlows);
    const auto h_days = load<int>("data/days.bin", kProjects * kFlows);
    const auto h_rate = load<float>("data/rate.bin", kProjects);
    std::vector<float> h_value(kProjects);
    std::vector<float> h_positive_share(kProjects);

    float* d_amounts = nullptr;
    int* d_days = nullptr;
    float* d_rate = nullptr;
    float* d_value = nullptr;
    float* d_positive_share = nullptr;
    cudaMalloc(&d_amounts, kProjects * kFlows * sizeof(float));
    cudaMalloc(&d_days, kProjects * kFlows * sizeof(int));
    cudaMalloc(&d_rate, kProjects * sizeof(float));
    cudaMalloc(&d_value, kProjects * sizeof(float));
    cudaMalloc(&d_positive_share, kProjects * sizeof(float));
    cudaMemcpy(d_amounts, h_amounts.data(), kProjects * kFlows * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_days, h_days.data(), kProjects * kFlows * sizeof(int), cudaMemcpyHostToDevice);
    cudaMemcpy(d_rate, h_rate.data(), kProjects * sizeof(float), cudaMemcpyHostToDevice);

    present_value<<<(kProjects + 127) / 128, 128>>>(d_amounts, d_days, d_rate, d_value, d_positive_share);

    cudaMemcpy(h_value.data(), d_value, kProjects * sizeof(float), cudaMemcpyDeviceToHost);
    cudaMemcpy(h_positive_share.data(), d_positive_share, kProjects * sizeof(float), cudaMemcpyDeviceToHost);
    store("data/value.bin", h_value);
    store("data/positive_share.bin", h_positive_share);

    cudaFree(d_amounts);
    cudaFree(d_days);
    cudaFree(d_rate);
    cudaFree(d_value);
    cudaFree(d_positive_share);
    return 0;
}
