#include <cuda_runtime.h>

#include <algorithm>
#include <fstream>
#include <iostream>
#include <stdexcept>
#include <string>
#include <vector>

constexpr int kMaxSamples = 65536, kMaxChannels = 4096, kMaxSections = 8;
constexpr int kThreads = 64, kAhead = 8;

__constant__ float sections[kMaxSections][5];

template <int Sections>
__global__ void cascade(const float* __restrict__ x, float* __restrict__ y, int samples, int channels) {
    const int channel = blockIdx.x * kThreads + threadIdx.x;
    if (channel >= channels) return;
    float s1[Sections] = {}, s2[Sections] = {};
    const float* in = x + channel;
    float* out = y + channel;
    for (int begin = 0; begin < samples; begin += kAhead) {
        const int count = min(kAhead, samples - begin);
        float ahead[kAhead];
#pragma unroll
        for (int k = 0; k < kAhead; ++k) ahead[k] = k < count ? in[static_cast<size_t>(begin + k) * channels] : 0.0f;
#pragma unroll
        for (int k = 0; k < kAhead; ++k) {
            float value = ahead[k];
#pragma unroll
            for (int s = 0; s < Sections; ++s) {
                const float* c = sections[s];
                const float result = c[0] * value + s1[s];
                s1[s] = c[1] * value - c[3] * result + s2[s];
                s2[s] = c[2] * value - c[4] * result;
                value = result;
            }
            if (k < count) out[static_cast<size_t>(begin + k) * channels] = value;
        }
    }
}

template <int Sections>
void launch(int wanted, const float* x, float* y, int samples, int channels) {
    if (wanted == Sections) {
        cascade<Sections><<<(channels + kThreads - 1) / kThreads, kThreads>>>(x, y, samples, channels);
    } else if constexpr (Sections < kMaxSections) {
        launch<Sections + 1>(wanted, x, y, samples, channels);
    }
}

void check(cudaError_t status, const char* step) {
    if (status != cudaSuccess) throw std::runtime_error(std::string(step) + ": " + cudaGetErrorString(status));
}

template <typename T>
std::vector<T> readFile(const std::string& path, size_t count) {
    std::ifstream in(path, std::ios::binary | std::ios::ate);
    if (!in || static_cast<size_t>(in.tellg()) != count * sizeof(T)) throw std::runtime_error(path + ": wrong length");
    std::vector<T> values(count);
    in.seekg(0).read(reinterpret_cast<char*>(values.data()), count * sizeof(T));
    if (!in) throw std::runtime_error(path + ": cannot be read");
    return values;
}

int main() {
    try {
        const auto sizes = readFile<int>("data/sizes.bin", 3);
        const int samples = sizes[0], channels = sizes[1], count = sizes[2];
        if (samples < 1 || samples > kMaxSamples || channels < 1 || channels > kMaxChannels || count < 1 ||
            count > kMaxSections) {
            throw std::runtime_error("data/sizes.bin: out of range");
        }
        auto signal = readFile<float>("data/x.bin", static_cast<size_t>(samples) * channels);
        const auto sos = readFile<float>("data/sos.bin", 5 * count);
        const size_t bytes = signal.size() * sizeof(float);

        float *x = nullptr, *y = nullptr;
        check(cudaMalloc(&x, bytes), "allocate x");
        check(cudaMalloc(&y, bytes), "allocate y");
        check(cudaMemcpy(x, signal.data(), bytes, cudaMemcpyHostToDevice), "upload");
        check(cudaMemcpyToSymbol(sections, sos.data(), sos.size() * sizeof(float)), "upload the sections");
        launch<1>(count, x, y, samples, channels);
        check(cudaGetLastError(), "launch");
        check(cudaMemcpy(signal.data(), y, bytes, cudaMemcpyDeviceToHost), "download");
        check(cudaFree(x), "free");
        check(cudaFree(y), "free");

        std::ofstream out("data/y.bin", std::ios::binary);
        out.write(reinterpret_cast<const char*>(signal.data()), bytes);
        out.close();
        if (!out) throw std::runtime_error("data/y.bin: cannot be written");
    } catch (const std::exception& error) {
        std::cerr << error.what() << std::endl;
        return 1;
    }
    return 0;
}
