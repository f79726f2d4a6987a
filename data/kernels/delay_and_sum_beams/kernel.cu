#include <cuda_runtime.h>

#include <fstream>
#include <iostream>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

constexpr int kMaxMics = 256, kMaxSamples = 262144, kMaxBeams = 1024, kMaxDelay = 4095;
constexpr int kThreads = 256, kPerThread = 4;

__global__ void formBeams(const float* __restrict__ x, const int* __restrict__ delays, const float* __restrict__ gains,
                          float* __restrict__ y, int mics, int samples) {
    __shared__ int delay[kMaxMics];
    __shared__ float gain[kMaxMics];
    for (int m = threadIdx.x; m < mics; m += kThreads) {
        delay[m] = delays[blockIdx.y * mics + m];
        gain[m] = gains[m];
    }
    __syncthreads();
    const int first = blockIdx.x * kThreads * kPerThread + threadIdx.x;
    float sum[kPerThread] = {};
    for (int m = 0; m < mics; ++m) {
        const float* signal = x + static_cast<size_t>(m) * samples;
#pragma unroll
        for (int k = 0; k < kPerThread; ++k) {
            const int t = first + k * kThreads, from = t - delay[m];
            if (from >= 0 && t < samples) sum[k] += gain[m] * signal[from];
        }
    }
#pragma unroll
    for (int k = 0; k < kPerThread; ++k) {
        const int t = first + k * kThreads;
        if (t < samples) y[static_cast<size_t>(blockIdx.y) * samples + t] = sum[k];
    }
}

void check(cudaError_t status) {
    if (status != cudaSuccess) throw std::runtime_error(std::string("CUDA: ") + cudaGetErrorString(status));
}

template <typename T>
using Buffer = std::unique_ptr<T[], cudaError_t (*)(void*)>;

cudaError_t release(void* pointer) { return cudaFree(pointer); }

template <typename T>
Buffer<T> allocate(size_t count) {
    T* pointer = nullptr;
    check(cudaMalloc(&pointer, count * sizeof(T)));
    return Buffer<T>(pointer, release);
}

template <typename T>
Buffer<T> upload(const std::vector<T>& values) {
    Buffer<T> buffer = allocate<T>(values.size());
    check(cudaMemcpy(buffer.get(), values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice));
    return buffer;
}

template <typename T>
std::vector<T> readFile(const std::string& path, size_t count) {
    std::ifstream in(path, std::ios::binary);
    std::vector<T> values(count);
    in.read(reinterpret_cast<char*>(values.data()), count * sizeof(T));
    if (!in || in.peek() != EOF) throw std::runtime_error(path + ": expected " + std::to_string(count) + " values");
    return values;
}

int main() {
    try {
        const auto sizes = readFile<int>("data/sizes.bin", 3);
        const int mics = sizes[0], samples = sizes[1], beams = sizes[2];
        if (mics < 1 || mics > kMaxMics || samples < 1 || samples > kMaxSamples || beams < 1 || beams > kMaxBeams) {
            throw std::runtime_error("data/sizes.bin: out of range");
        }
        const auto delays = readFile<int>("data/delays.bin", static_cast<size_t>(beams) * mics);
        for (int d : delays) {
            if (d < 0 || d > kMaxDelay) throw std::runtime_error("data/delays.bin: delays are 0 to 4095");
        }
        const auto x = upload(readFile<float>("data/x.bin", static_cast<size_t>(mics) * samples));
        const auto gains = upload(readFile<float>("data/gains.bin", mics));
        const auto dDelays = upload(delays);
        std::vector<float> y(static_cast<size_t>(beams) * samples);
        const auto dY = allocate<float>(y.size());
        const int perBlock = kThreads * kPerThread;
        const dim3 grid((samples + perBlock - 1) / perBlock, beams);
        formBeams<<<grid, kThreads>>>(x.get(), dDelays.get(), gains.get(), dY.get(), mics, samples);
        check(cudaGetLastError());
        check(cudaMemcpy(y.data(), dY.get(), y.size() * sizeof(float), cudaMemcpyDeviceToHost));
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
