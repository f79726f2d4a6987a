#include <cuda_runtime.h>

#include <cmath>
#include <cstdint>
#include <fstream>
#include <iostream>
#include <stdexcept>
#include <string>
#include <vector>

constexpr int kThreads = 512;
constexpr int kWarps = kThreads / 32;
constexpr float kRate = 0.002f;

__global__ void lambStep(const int* __restrict__ offsets, const float* __restrict__ weights,
                         const float* __restrict__ grad, const float* __restrict__ moment1,
                         const float* __restrict__ moment2, float* newWeights, float* __restrict__ trust,
                         float correction1, float correction2) {
    __shared__ float2 partial[kWarps];
    const int begin = offsets[blockIdx.x], end = offsets[blockIdx.x + 1];

    float ww = 0.0f, uu = 0.0f;
    for (int i = begin + threadIdx.x; i < end; i += kThreads) {
        const float w = weights[i], g = grad[i];
        const float m = 0.9f * moment1[i] + 0.1f * g;
        const float v = 0.999f * moment2[i] + 0.001f * g * g;
        const float u = m * correction1 / (sqrtf(v * correction2) + 1e-6f) + 0.01f * w;
        newWeights[i] = u;
        ww = fmaf(w, w, ww);
        uu = fmaf(u, u, uu);
    }
    for (int step = 16; step > 0; step >>= 1) {
        ww += __shfl_xor_sync(0xffffffffu, ww, step);
        uu += __shfl_xor_sync(0xffffffffu, uu, step);
    }
    if (threadIdx.x % 32 == 0) partial[threadIdx.x / 32] = make_float2(ww, uu);
    __syncthreads();
    ww = uu = 0.0f;
    for (int k = 0; k < kWarps; ++k) {
        ww += partial[k].x;
        uu += partial[k].y;
    }
    const float ratio = ww > 0.0f && uu > 0.0f ? sqrtf(ww) / sqrtf(uu) : 1.0f;
    for (int i = begin + threadIdx.x; i < end; i += kThreads) {
        newWeights[i] = weights[i] - kRate * ratio * newWeights[i];
    }
    if (threadIdx.x == 0) trust[blockIdx.x] = ratio;
}

static void check(cudaError_t status) {
    if (status != cudaSuccess) throw std::runtime_error(cudaGetErrorString(status));
}

template <typename T>
static std::vector<T> readFile(const std::string& path, size_t count) {
    std::ifstream in(path, std::ios::binary);
    std::vector<T> values(count);
    in.read(reinterpret_cast<char*>(values.data()), count * sizeof(T));
    if (!in || in.peek() != EOF) throw std::runtime_error(path + ": not " + std::to_string(count) + " values");
    return values;
}

static void writeFile(const std::string& path, const float* device, size_t count) {
    std::vector<float> values(count);
    check(cudaMemcpy(values.data(), device, count * sizeof(float), cudaMemcpyDeviceToHost));
    std::ofstream out(path, std::ios::binary);
    out.write(reinterpret_cast<const char*>(values.data()), count * sizeof(float));
    out.close();
    if (!out) throw std::runtime_error(path + ": cannot be written");
}

template <typename T>
static T* upload(const std::vector<T>& host) {
    T* device = nullptr;
    check(cudaMalloc(&device, host.size() * sizeof(T)));
    check(cudaMemcpy(device, host.data(), host.size() * sizeof(T), cudaMemcpyHostToDevice));
    return device;
}

int main() {
    try {
        const auto sizes = readFile<int32_t>("data/sizes.bin", 3);
        const int tensors = sizes[0], count = sizes[1], step = sizes[2];
        if (tensors < 1 || tensors > 65535 || count < 1 || count > 16000000 || step < 1 || step > 10000) {
            throw std::runtime_error("data/sizes.bin: out of range");
        }
        const auto offsets = readFile<int32_t>("data/offsets.bin", tensors + 1);
        if (offsets[0] != 0 || offsets[tensors] != count) throw std::runtime_error("offsets: wrong ends");
        for (int k = 0; k < tensors; ++k) {
            if (offsets[k] > offsets[k + 1]) throw std::runtime_error("offsets: decrease");
        }
        int* dOffsets = upload(offsets);
        float* weights = upload(readFile<float>("data/weights.bin", count));
        float* grad = upload(readFile<float>("data/grad.bin", count));
        float* moment1 = upload(readFile<float>("data/moment1.bin", count));
        float* moment2 = upload(readFile<float>("data/moment2.bin", count));
        float *newWeights = nullptr, *trust = nullptr;
        check(cudaMalloc(&newWeights, count * sizeof(float)));
        check(cudaMalloc(&trust, tensors * sizeof(float)));

        const double correction1 = 1.0 / (1.0 - std::pow(0.9, step));
        const double correction2 = 1.0 / (1.0 - std::pow(0.999, step));
        lambStep<<<tensors, kThreads>>>(dOffsets, weights, grad, moment1, moment2, newWeights, trust,
                                        static_cast<float>(correction1), static_cast<float>(correction2));
        check(cudaGetLastError());
        writeFile("data/new_weights.bin", newWeights, count);
        writeFile("data/trust.bin", trust, tensors);
        for (float* p : {weights, grad, moment1, moment2, newWeights, trust}) check(cudaFree(p));
        check(cudaFree(dOffsets));
    } catch (const std::exception& error) {
        std::cerr << error.what() << std::endl;
        return 1;
    }
    return 0;
}
