#include <cuda_runtime.h>

#include <cstdint>
#include <fstream>
#include <iostream>
#include <stdexcept>
#include <string>
#include <vector>

constexpr int kThreads = 128;
constexpr float kLargest = 4.0f, kSmallest = 1.0f / (1 << 20);

__device__ int signOf(float x) { return (x > 0.0f) - (x < 0.0f); }

__global__ void replay(float* weights, float* stepSize, const float* __restrict__ gradients, int count, int steps) {
    const int i = blockIdx.x * kThreads + threadIdx.x;
    if (i >= count) return;
    float w = weights[i], d = stepSize[i];
    int before = 0;
    float upcoming = gradients[i];
    for (int s = 0; s < steps; ++s) {
        int now = signOf(upcoming);
        if (s + 1 < steps) upcoming = gradients[static_cast<size_t>(s + 1) * count + i];
        if (now * before > 0) d = fminf(1.25f * d, kLargest);
        if (now * before < 0) {
            d = fmaxf(0.5f * d, kSmallest);
            now = 0;
        }
        w -= now * d;
        before = now;
    }
    weights[i] = w;
    stepSize[i] = d;
}

static void check(cudaError_t status) {
    if (status != cudaSuccess) throw std::runtime_error(cudaGetErrorString(status));
}

template <typename T>
static std::vector<T> readFile(const std::string& path, size_t count) {
    std::vector<T> values(count);
    std::ifstream in(path, std::ios::binary);
    in.read(reinterpret_cast<char*>(values.data()), count * sizeof(T));
    if (!in || in.peek() != EOF) throw std::runtime_error(path + ": wrong size");
    return values;
}

static float* loadFloats(const std::string& path, size_t count) {
    const auto host = readFile<float>(path, count);
    float* device = nullptr;
    check(cudaMalloc(&device, count * sizeof(float)));
    check(cudaMemcpy(device, host.data(), count * sizeof(float), cudaMemcpyHostToDevice));
    return device;
}

static void saveFloats(const std::string& path, float* device, size_t count) {
    std::vector<float> host(count);
    check(cudaMemcpy(host.data(), device, count * sizeof(float), cudaMemcpyDeviceToHost));
    check(cudaFree(device));
    std::ofstream out(path, std::ios::binary);
    out.write(reinterpret_cast<const char*>(host.data()), count * sizeof(float));
    out.close();
    if (!out) throw std::runtime_error(path + ": cannot be written");
}

int main() {
    try {
        const auto sizes = readFile<int32_t>("data/sizes.bin", 2);
        const int count = sizes[0], steps = sizes[1];
        if (count < 1 || count > 4000000 || steps < 1 || steps > 1000) throw std::runtime_error("sizes out of range");
        float* weights = loadFloats("data/start.bin", count);
        float* stepSize = loadFloats("data/step_size.bin", count);
        float* gradients = loadFloats("data/gradients.bin", static_cast<size_t>(steps) * count);
        replay<<<(count + kThreads - 1) / kThreads, kThreads>>>(weights, stepSize, gradients, count, steps);
        check(cudaGetLastError());
        saveFloats("data/final_weights.bin", weights, count);
        saveFloats("data/final_step_size.bin", stepSize, count);
        check(cudaFree(gradients));
    } catch (const std::exception& error) {
        std::cerr << error.what() << std::endl;
        return 1;
    }
    return 0;
}
