#include <cuda_runtime.h>

#include <cstdint>
#include <fstream>
#include <iostream>
#include <stdexcept>
#include <string>
#include <vector>

constexpr int kThreads = 256;
constexpr float kBeta = 0.125f;

__global__ void preference(const int* __restrict__ offsets, const float* __restrict__ policy,
                           const float* __restrict__ base, float* __restrict__ loss, float* __restrict__ grad,
                           int pairs) {
    const int pair = (blockIdx.x * kThreads + threadIdx.x) / 32;
    const int lane = threadIdx.x % 32;
    if (pair >= pairs) return;
    const int begin = offsets[2 * pair], border = offsets[2 * pair + 1], end = offsets[2 * pair + 2];

    float x = 0.0f;
    for (int i = begin + lane; i < end; i += 32) {
        const float ratio = policy[i] - base[i];
        x += i < border ? ratio : -ratio;
    }
    for (int step = 16; step > 0; step /= 2) x += __shfl_xor_sync(0xffffffffu, x, step);
    x *= kBeta;
    const float t = expf(-fabsf(x));
    const float slope = kBeta * (x >= 0.0f ? t : 1.0f) / (1.0f + t);
    for (int i = begin + lane; i < end; i += 32) grad[i] = i < border ? -slope : slope;
    if (lane == 0) loss[pair] = fmaxf(-x, 0.0f) + log1pf(t);
}

static void require(bool good, const std::string& what) {
    if (!good) throw std::runtime_error(what);
}

static void check(cudaError_t status) { require(status == cudaSuccess, cudaGetErrorString(status)); }

template <typename T>
static std::vector<T> readFile(const std::string& path, size_t count) {
    std::vector<T> values(count);
    std::ifstream in(path, std::ios::binary);
    in.read(reinterpret_cast<char*>(values.data()), count * sizeof(T));
    require(in && in.peek() == EOF, path + ": wrong size");
    return values;
}

template <typename T>
static T* upload(const std::vector<T>& values) {
    T* device = nullptr;
    check(cudaMalloc(&device, values.size() * sizeof(T)));
    check(cudaMemcpy(device, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice));
    return device;
}

static void save(const std::string& path, const float* device, size_t count) {
    std::vector<float> values(count);
    check(cudaMemcpy(values.data(), device, count * sizeof(float), cudaMemcpyDeviceToHost));
    std::ofstream out(path, std::ios::binary);
    out.write(reinterpret_cast<const char*>(values.data()), count * sizeof(float));
    out.close();
    require(bool(out), path + ": cannot be written");
}

int main() {
    try {
        const auto sizes = readFile<int32_t>("data/sizes.bin", 2);
        const int pairs = sizes[0], tokens = sizes[1];
        require(pairs >= 1 && pairs <= 100000 && tokens >= 2 && tokens <= 4000000, "data/sizes.bin: out of range");
        const auto offsets = readFile<int32_t>("data/offsets.bin", 2 * pairs + 1);
        require(offsets[0] == 0 && offsets[2 * pairs] == tokens, "data/offsets.bin: first or last value");
        for (int a = 0; a < 2 * pairs; ++a) require(offsets[a] <= offsets[a + 1], "data/offsets.bin: decreases");

        int* dOffsets = upload(offsets);
        float* policy = upload(readFile<float>("data/policy.bin", tokens));
        float* base = upload(readFile<float>("data/base.bin", tokens));
        float *loss = nullptr, *grad = nullptr;
        check(cudaMalloc(&loss, pairs * sizeof(float)));
        check(cudaMalloc(&grad, tokens * sizeof(float)));
        const int perBlock = kThreads / 32;
        preference<<<(pairs + perBlock - 1) / perBlock, kThreads>>>(dOffsets, policy, base, loss, grad, pairs);
        check(cudaGetLastError());
        save("data/loss.bin", loss, pairs);
        save("data/grad.bin", grad, tokens);
        for (float* p : {policy, base, loss, grad}) check(cudaFree(p));
        check(cudaFree(dOffsets));
    } catch (const std::exception& error) {
        std::cerr << error.what() << std::endl;
        return 1;
    }
    return 0;
}
