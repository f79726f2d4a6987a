#include <cuda_runtime.h>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

template <typename T>
std::vector<T> load(const std::string& path, size_t count) {
    std::vector<T> values(count);
    std::ifstream f(path, std::ios::binary);
    if (!f.read(reinterpret_cast<char*>(values.data()), count * sizeof(T))) {
        throw std::runtime_error("cannot read " + path);
    }
    return values;
}

template <typename T>
void store(const std::string& path, const std::vector<T>& values) {
    std::ofstream file(path, std::ios::binary);
    file.write(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T));
}
//@given

constexpr int kHabitats = 4000;
constexpr int kThreads = 128;
constexpr int kPerThread = 2;

// Two habitats a thread give the hardware independent work while a division is under way.
__global__ void simulatePairs(const float* __restrict__ prey, const float* __restrict__ predator,
                              const float* __restrict__ growth, float* __restrict__ preyAfter,
                              float* __restrict__ predatorAfter) {
    int first = blockIdx.x * kThreads * kPerThread + threadIdx.x;
    float x[kPerThread], y[kPerThread], r[kPerThread];
    for (int j = 0; j < kPerThread; ++j) {
        int i = first + j * kThreads;
        x[j] = i < kHabitats ? prey[i] : 1.0f;
        y[j] = i < kHabitats ? predator[i] : 1.0f;
        r[j] = i < kHabitats ? growth[i] : 1.0f;
    }
    for (int step = 0; step < 60; ++step) {
        #pragma unroll
        for (int j = 0; j < kPerThread; ++j) {
            float rate = y[j] / fmaf(0.4f, x[j], 1.0f);
            float mx = fmaf(0.025f * x[j], r[j] * (1.0f - 0.2f * x[j]) - 0.8f * rate, x[j]);
            float my = fmaf(0.025f, 0.5f * x[j] * rate - 0.3f * y[j], y[j]);
            rate = my / fmaf(0.4f, mx, 1.0f);
            x[j] = fmaxf(fmaf(0.05f * mx, r[j] * (1.0f - 0.2f * mx) - 0.8f * rate, x[j]), 0.001f);
            y[j] = fmaxf(fmaf(0.05f, 0.5f * mx * rate - 0.3f * my, y[j]), 0.001f);
        }
    }
    for (int j = 0; j < kPerThread; ++j) {
        int i = first + j * kThreads;
        if (i < kHabitats) {
            preyAfter[i] = x[j];
            predatorAfter[i] = y[j];
        }
    }
}

int main() {
    const auto host_prey = load<float>("data/prey.bin", kHabitats);
    const auto host_predator = load<float>("data/predator.bin", kHabitats);
    const auto host_growth = load<float>("data/growth.bin", kHabitats);

    float *d_prey, *d_predator, *d_growth, *d_prey_after, *d_predator_after;
    cudaMalloc(&d_prey, kHabitats * sizeof(float));
    cudaMalloc(&d_predator, kHabitats * sizeof(float));
    cudaMalloc(&d_growth, kHabitats * sizeof(float));
    cudaMalloc(&d_prey_after, kHabitats * sizeof(float));
    cudaMalloc(&d_predator_after, kHabitats * sizeof(float));
    cudaMemcpy(d_prey, host_prey.data(), kHabitats * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_predator, host_predator.data(), kHabitats * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_growth, host_growth.data(), kHabitats * sizeof(float), cudaMemcpyHostToDevice);

    int perBlock = kThreads * kPerThread;
    simulatePairs<<<(kHabitats + perBlock - 1) / perBlock, kThreads>>>(d_prey, d_predator, d_growth,
            d_prey_after, d_predator_after);

    std::vector<float> host_prey_after(kHabitats);
    std::vector<float> host_predator_after(kHabitats);
    cudaMemcpy(host_prey_after.data(), d_prey_after, kHabitats * sizeof(float), cudaMemcpyDeviceToHost);
    cudaMemcpy(host_predator_after.data(), d_predator_after, kHabitats * sizeof(float), cudaMemcpyDeviceToHost);
    store("data/prey_after.bin", host_prey_after);
    store("data/predator_after.bin", host_predator_after);

    cudaFree(d_prey);
    cudaFree(d_predator);
    cudaFree(d_growth);
    cudaFree(d_prey_after);
    cudaFree(d_predator_after);
    return 0;
}
