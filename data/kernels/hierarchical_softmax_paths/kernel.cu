#include <cuda_runtime.h>

#include <cstdint>
#include <fstream>
#include <iostream>
#include <stdexcept>
#include <string>
#include <vector>

constexpr int kThreads = 256;
constexpr int kMaxWidth = 256;
constexpr int kSlots = kMaxWidth / 32;

__global__ void walkUp(const float* __restrict__ hidden, const float* __restrict__ nodes,
                       const int* __restrict__ target, float* __restrict__ loss, float* __restrict__ hiddenGrad,
                       int samples, int words, int width) {
    const int s = (blockIdx.x * kThreads + threadIdx.x) / 32;
    const int lane = threadIdx.x % 32;
    if (s >= samples) return;
    const size_t row = static_cast<size_t>(s) * width;

    float h[kSlots], grad[kSlots] = {}, vector[kSlots];
#pragma unroll
    for (int k = 0; k < kSlots; ++k) h[k] = lane + 32 * k < width ? hidden[row + lane + 32 * k] : 0.0f;
    float total = 0.0f;
    for (int n = target[s] + words; n > 1; n /= 2) {
        const float* node = nodes + static_cast<size_t>(n / 2) * width;
        float x = 0.0f;
#pragma unroll
        for (int k = 0; k < kSlots; ++k) {
            vector[k] = lane + 32 * k < width ? node[lane + 32 * k] : 0.0f;
            x = fmaf(h[k], vector[k], x);
        }
        for (int step = 16; step > 0; step /= 2) x += __shfl_xor_sync(0xffffffffu, x, step);
        const float z = n % 2 ? -x : x;  // the loss of this decision is softplus(z)
        const float t = expf(-fabsf(z));
        const float slope = (z >= 0.0f ? 1.0f : t) / (1.0f + t);
        total += fmaxf(z, 0.0f) + log1pf(t);
        const float factor = n % 2 ? -slope : slope;
#pragma unroll
        for (int k = 0; k < kSlots; ++k) grad[k] = fmaf(factor, vector[k], grad[k]);
    }
#pragma unroll
    for (int k = 0; k < kSlots; ++k) {
        if (lane + 32 * k < width) hiddenGrad[row + lane + 32 * k] = grad[k];
    }
    if (lane == 0) loss[s] = total;
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
        const auto sizes = readFile<int32_t>("data/sizes.bin", 3);
        const int samples = sizes[0], words = sizes[1], width = sizes[2];
        require(samples >= 1 && samples <= 1000000 && words >= 2 && words <= 1000000, "sizes: samples or words");
        require(width >= 1 && width <= kMaxWidth, "sizes: width");
        const size_t cells = static_cast<size_t>(samples) * width;
        const auto target = readFile<int32_t>("data/target.bin", samples);
        for (int word : target) require(word >= 0 && word < words, "data/target.bin: no such word");

        float* hidden = upload(readFile<float>("data/hidden.bin", cells));
        float* nodes = upload(readFile<float>("data/nodes.bin", static_cast<size_t>(words) * width));
        int* dTarget = upload(target);
        float *loss = nullptr, *hiddenGrad = nullptr;
        check(cudaMalloc(&loss, samples * sizeof(float)));
        check(cudaMalloc(&hiddenGrad, cells * sizeof(float)));
        const int perBlock = kThreads / 32;
        walkUp<<<(samples + perBlock - 1) / perBlock, kThreads>>>(hidden, nodes, dTarget, loss, hiddenGrad, samples,
                                                                  words, width);
        check(cudaGetLastError());
        save("data/loss.bin", loss, samples);
        save("data/hidden_grad.bin", hiddenGrad, cells);
        for (float* p : {hidden, nodes, loss, hiddenGrad}) check(cudaFree(p));
        check(cudaFree(dTarget));
    } catch (const std::exception& error) {
        std::cerr << error.what() << std::endl;
        return 1;
    }
    return 0;
}
