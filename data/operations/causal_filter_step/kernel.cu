#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>
#include <vector>
#include <cuda_runtime.h>

template <typename T>
std::vector<T> from_file(const std::string& name, size_t count) {
    std::vector<T> data(count);
    std::ifstream in(name, std::ios::binary);
    if (!in.read(reinterpret_cast<char*>(data.data()), count * sizeof(T))) {
        std::cerr << "cannot load " << name << std::endl;
        std::exit(1);
    }
    return data;
}

template <typename T>
void to_file(const std::string& name, const std::vector<T>& data) {
    std::ofstream out(name, std::ios::binary);
    out.write(reinterpret_cast<const char*>(data.data()), data.size() * sizeof(T));
}
//@given

constexpr int kBatch = 20;
constexpr int kChannels = 300;

// States and taps are float4 values; a thread keeps its channel's taps while it goes through the batch.
__global__ void filter_step4(const float4* __restrict__ state, const float* __restrict__ x,
                             const float4* __restrict__ taps, const float* __restrict__ bias, float* __restrict__ y,
                             float4* __restrict__ next_state) {
    const int c = blockIdx.x * blockDim.x + threadIdx.x;
    if (c >= kChannels) return;
    const float4 w = taps[c];
    const float offset = bias[c];
    for (int b = blockIdx.y; b < kBatch; b += gridDim.y) {
        const size_t i = (size_t)b * kChannels + c;
        const float4 old = state[i];
        const float4 s = make_float4(old.y, old.z, old.w, x[i]);
        next_state[i] = s;
        const float z = offset + w.x * s.x + w.y * s.y + w.z * s.z + w.w * s.w;
        y[i] = z / (1.0f + __expf(-z));
    }
}

int main() {
    constexpr size_t n_state = size_t(kBatch) * kChannels * 4;
    constexpr size_t n_x = size_t(kBatch) * kChannels;
    constexpr size_t n_taps = size_t(kChannels) * 4;
    const auto host_state = from_file<float>("data/state.bin", n_state);
    const auto host_x = from_file<float>("data/x.bin", n_x);
    const auto host_taps = from_file<float>("data/taps.bin", n_taps);
    const auto host_bias = from_file<float>("data/bias.bin", kChannels);
    std::vector<float> host_y(n_x);
    std::vector<float> host_next_state(n_state);

    float* d_state = nullptr;
    float* d_x = nullptr;
    float* d_taps = nullptr;
    float* d_bias = nullptr;
    float* d_y = nullptr;
    float* d_next_state = nullptr;
    cudaMalloc(&d_state, n_state * sizeof(float));
    cudaMalloc(&d_x, n_x * sizeof(float));
    cudaMalloc(&d_taps, n_taps * sizeof(float));
    cudaMalloc(&d_bias, kChannels * sizeof(float));
    cudaMalloc(&d_y, n_x * sizeof(float));
    cudaMalloc(&d_next_state, n_state * sizeof(float));
    cudaMemcpy(d_state, host_state.data(), host_state.size() * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_x, host_x.data(), host_x.size() * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_taps, host_taps.data(), host_taps.size() * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_bias, host_bias.data(), host_bias.size() * sizeof(float), cudaMemcpyHostToDevice);

    dim3 grid((kChannels + 128 - 1) / 128, kBatch < 64 ? kBatch : 64);
    filter_step4<<<grid, 128>>>((const float4*)d_state, d_x, (const float4*)d_taps, d_bias, d_y,
        (float4*)d_next_state);

    cudaMemcpy(host_y.data(), d_y, host_y.size() * sizeof(float), cudaMemcpyDeviceToHost);
    cudaMemcpy(host_next_state.data(), d_next_state, host_next_state.size() * sizeof(float),
        cudaMemcpyDeviceToHost);
    to_file("data/y.bin", host_y);
    to_file("data/next_state.bin", host_next_state);
    cudaFree(d_state);
    cudaFree(d_x);
    cudaFree(d_taps);
    cudaFree(d_bias);
    cudaFree(d_y);
    cudaFree(d_next_state);
    return 0;
}
