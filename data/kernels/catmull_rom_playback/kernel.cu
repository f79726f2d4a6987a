#include <cuda_runtime.h>

#include <cstdint>
#include <fstream>
#include <iostream>
#include <stdexcept>
#include <string>
#include <vector>

constexpr int kLimits[3] = {64, 65536, 1048576};
constexpr int kThreads = 256;

__global__ void interpolate(const float* __restrict__ x, const uint32_t* __restrict__ position, float* __restrict__ y,
                            int channels, int n, int outputs) {
    const int m = blockIdx.x * kThreads + threadIdx.x;
    if (m >= outputs) return;
    const uint32_t p = position[m];
    const int i = static_cast<int>(p >> 16);
    const float u = (p & 0xFFFFu) * (1.0f / 65536.0f);
    const float weight[4] = {0.5f * u * (-1.0f + u * (2.0f - u)), 0.5f * (2.0f + u * u * (3.0f * u - 5.0f)),
                             0.5f * u * (1.0f + u * (4.0f - 3.0f * u)), 0.5f * u * u * (u - 1.0f)};
    int tap[4];
#pragma unroll
    for (int k = 0; k < 4; ++k) tap[k] = min(max(i - 1 + k, 0), n - 1);
    for (int c = 0; c < channels; ++c) {
        const float* channel = x + static_cast<size_t>(c) * n;
        float sum = 0.0f;
#pragma unroll
        for (int k = 0; k < 4; ++k) sum += weight[k] * channel[tap[k]];
        y[static_cast<size_t>(c) * outputs + m] = sum;
    }
}

static void check(cudaError_t status) {
    if (status != cudaSuccess) throw std::runtime_error(std::string("CUDA: ") + cudaGetErrorString(status));
}

template <typename T>
static std::vector<T> readFile(const std::string& path, size_t count) {
    std::ifstream in(path, std::ios::binary | std::ios::ate);
    if (!in || static_cast<size_t>(in.tellg()) != count * sizeof(T)) throw std::runtime_error(path + ": wrong length");
    std::vector<T> values(count);
    if (!in.seekg(0).read(reinterpret_cast<char*>(values.data()), count * sizeof(T))) throw std::runtime_error(path);
    return values;
}

int main() {
    try {
        const auto sizes = readFile<int>("data/sizes.bin", 3);
        for (int s = 0; s < 3; ++s) {
            if (sizes[s] < 1 || sizes[s] > kLimits[s]) throw std::runtime_error("data/sizes.bin: out of range");
        }
        const int channels = sizes[0], n = sizes[1], outputs = sizes[2];
        const auto x = readFile<float>("data/x.bin", static_cast<size_t>(channels) * n);
        const auto position = readFile<uint32_t>("data/position.bin", outputs);
        for (uint32_t p : position) {
            if (static_cast<int>(p >> 16) >= n) throw std::runtime_error("data/position.bin: beyond the last sample");
        }
        std::vector<float> y(static_cast<size_t>(channels) * outputs);
        float *dX, *dY;
        uint32_t* dPosition;
        check(cudaMalloc(&dX, x.size() * sizeof(float)));
        check(cudaMalloc(&dY, y.size() * sizeof(float)));
        check(cudaMalloc(&dPosition, outputs * sizeof(uint32_t)));
        check(cudaMemcpy(dX, x.data(), x.size() * sizeof(float), cudaMemcpyHostToDevice));
        check(cudaMemcpy(dPosition, position.data(), outputs * sizeof(uint32_t), cudaMemcpyHostToDevice));
        interpolate<<<(outputs + kThreads - 1) / kThreads, kThreads>>>(dX, dPosition, dY, channels, n, outputs);
        check(cudaGetLastError());
        check(cudaMemcpy(y.data(), dY, y.size() * sizeof(float), cudaMemcpyDeviceToHost));
        check(cudaFree(dX));
        check(cudaFree(dY));
        check(cudaFree(dPosition));
        std::ofstream out("data/y.bin", std::ios::binary);
        out.write(reinterpret_cast<const char*>(y.data()), y.size() * sizeof(float));
        out.close();
        if (!out) throw std::runtime_error("data/y.bin: cannot be written");
    } catch (const std::exception& error) {
        std::cerr << error.what() << std::endl;
        return 1;
    }
    return 0;
}
