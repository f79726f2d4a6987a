#include <fstream>
#include <iostream>
#include <stdexcept>
#include <string>
#include <vector>
#include <cuda_runtime.h>

template <typename T>
std::vector<T> load(const std::string& path, size_t count) {
    std::vector<T> values(count);
    std::ifstream file(path, std::ios::binary);
    if (!file.read(reinterpret_cast<char*>(values.data()), count * sizeof(T))) {
        throw std::runtime_error("cannot read " + path);
    }
    return values;
}

template <typename T>
void store(const std::string& path, const std::vector<T>& values) {
    std::ofstream out(path, std::ios::binary);
    out.write(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T));
}
//@given

constexpr int kRows = 60;
constexpr int kCols = 40;
constexpr int kUpdates = 400;
constexpr int kMaxBlocks = 2048;

__global__ void copy_base(const float* base, float* result) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < kRows * kCols; i += gridDim.x * blockDim.x) {
        result[i] = base[i];
    }
}

// A block takes one update after another: its target and weight are read once, skipped updates cost nothing more.
__global__ void add_updates(const float* __restrict__ source, const int* __restrict__ target,
                            const float* __restrict__ weight, float* result) {
    for (int u = blockIdx.x; u < kUpdates; u += gridDim.x) {
        const int row = target[u];
        if (row < 0) continue;
        const float w = weight[u];
        const float* src = source + (size_t)u * kCols;
        float* dst = result + (size_t)row * kCols;
        for (int c = threadIdx.x; c < kCols; c += blockDim.x) atomicAdd(dst + c, w * src[c]);
    }
}

int main() {
    constexpr size_t num_base = size_t(kRows) * kCols;
    constexpr size_t num_source = size_t(kUpdates) * kCols;
    const auto base = load<float>("data/base.bin", num_base);
    auto source = load<float>("data/source.bin", num_source);
    auto target = load<int>("data/target.bin", kUpdates);
    auto weight = load<float>("data/weight.bin", kUpdates);
    std::vector<float> result(num_base);

    float* d_base = nullptr;
    cudaMalloc(&d_base, num_base * sizeof(float));
    cudaMemcpy(d_base, base.data(), num_base * sizeof(float), cudaMemcpyHostToDevice);
    float* d_source = nullptr;
    cudaMalloc(&d_source, num_source * sizeof(float));
    cudaMemcpy(d_source, source.data(), num_source * sizeof(float), cudaMemcpyHostToDevice);
    int* d_target = nullptr;
    cudaMalloc(&d_target, kUpdates * sizeof(int));
    cudaMemcpy(d_target, target.data(), kUpdates * sizeof(int), cudaMemcpyHostToDevice);
    float* d_weight = nullptr;
    cudaMalloc(&d_weight, kUpdates * sizeof(float));
    cudaMemcpy(d_weight, weight.data(), kUpdates * sizeof(float), cudaMemcpyHostToDevice);
    float* d_result = nullptr;
    cudaMalloc(&d_result, num_base * sizeof(float));

    int blocks = kUpdates < kMaxBlocks ? kUpdates : kMaxBlocks;
    copy_base<<<blocks, 256>>>(d_base, d_result);
    add_updates<<<blocks, 64>>>(d_source, d_target, d_weight, d_result);
    cudaError_t status = cudaGetLastError();
    if (status != cudaSuccess) {
        std::cerr << "CUDA: " << cudaGetErrorString(status) << '\n';
        return 1;
    }
    cudaMemcpy(result.data(), d_result, num_base * sizeof(float), cudaMemcpyDeviceToHost);
    store("data/result.bin", result);

    cudaFree(d_base);
    cudaFree(d_source);
    cudaFree(d_target);
    cudaFree(d_weight);
    cudaFree(d_result);
    return 0;
}
