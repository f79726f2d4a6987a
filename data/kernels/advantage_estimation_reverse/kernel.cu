#include <cuda_runtime.h>

#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <stdexcept>
#include <string>
#include <vector>

constexpr float kGamma = 0.99f;
constexpr float kDecay = 0.99f * 0.95f;
constexpr int kWarps = 8;
constexpr unsigned kAll = 0xffffffffu;

__global__ void estimate(const float* __restrict__ rewards, const float* __restrict__ values,
                         const uint8_t* __restrict__ done, float* __restrict__ advantages,
                         float* __restrict__ returns, int envs, int steps) {
    const int env = blockIdx.x * kWarps + threadIdx.x / 32;
    const int lane = threadIdx.x % 32;
    if (env >= envs) return;
    const size_t row = static_cast<size_t>(env) * steps;
    const float* value = values + row + env;  // rows of steps + 1

    float carry = 0.0f;  // the advantage of the step after this piece
    for (int end = steps; end > 0; end -= 32) {
        const int t = end - 1 - lane;
        float delta = 0.0f, factor = 1.0f;
        if (t >= 0) {
            const float goesOn = done[row + t] ? 0.0f : 1.0f;
            delta = rewards[row + t] + kGamma * goesOn * value[t + 1] - value[t];
            factor = kDecay * goesOn;
        }
        for (int step = 1; step < 32; step *= 2) {
            const float laterDelta = __shfl_up_sync(kAll, delta, step);
            const float laterFactor = __shfl_up_sync(kAll, factor, step);
            if (lane >= step) {  // first the later steps, then this one
                delta = fmaf(factor, laterDelta, delta);
                factor *= laterFactor;
            }
        }
        const float advantage = fmaf(factor, carry, delta);
        if (t >= 0) {
            advantages[row + t] = advantage;
            returns[row + t] = advantage + value[t];
        }
        carry = __shfl_sync(kAll, advantage, 31);
    }
}

static void check(cudaError_t status) {
    if (status != cudaSuccess) throw std::runtime_error(cudaGetErrorString(status));
}

template <typename T>
struct Array {
    T* device = nullptr;
    size_t count;

    explicit Array(size_t n) : count(n) { check(cudaMalloc(&device, n * sizeof(T))); }
    Array(const char* path, size_t n) : Array(n) {
        std::vector<T> host(n);
        std::ifstream in(path, std::ios::binary);
        in.read(reinterpret_cast<char*>(host.data()), n * sizeof(T));
        if (!in || in.peek() != EOF) throw std::runtime_error(std::string(path) + ": not the size expected");
        check(cudaMemcpy(device, host.data(), n * sizeof(T), cudaMemcpyHostToDevice));
    }
    Array(const Array&) = delete;
    ~Array() { cudaFree(device); }

    void save(const char* path) const {
        std::vector<T> host(count);
        check(cudaMemcpy(host.data(), device, count * sizeof(T), cudaMemcpyDeviceToHost));
        std::ofstream out(path, std::ios::binary);
        out.write(reinterpret_cast<const char*>(host.data()), count * sizeof(T));
        out.close();
        if (!out) throw std::runtime_error(std::string(path) + ": cannot be written");
    }
};

int main() {
    try {
        int32_t sizes[2] = {0, 0};
        std::ifstream in("data/sizes.bin", std::ios::binary);
        if (!in.read(reinterpret_cast<char*>(sizes), sizeof sizes) || in.peek() != EOF) {
            throw std::runtime_error("data/sizes.bin: expected two values");
        }
        const int envs = sizes[0], steps = sizes[1];
        if (envs < 1 || envs > 100000 || steps < 1 || steps > 100000) throw std::runtime_error("sizes out of range");
        const size_t cells = static_cast<size_t>(envs) * steps;
        const Array<float> rewards("data/rewards.bin", cells), values("data/values.bin", cells + envs);
        const Array<uint8_t> done("data/done.bin", cells);
        const Array<float> advantages(cells), returns(cells);
        estimate<<<(envs + kWarps - 1) / kWarps, 32 * kWarps>>>(rewards.device, values.device, done.device,
                                                                advantages.device, returns.device, envs, steps);
        check(cudaGetLastError());
        advantages.save("data/advantages.bin");
        returns.save("data/returns.bin");
        return EXIT_SUCCESS;
    } catch (const std::exception& error) {
        std::cerr << "error: " << error.what() << std::endl;
        return EXIT_FAILURE;
    }
}
