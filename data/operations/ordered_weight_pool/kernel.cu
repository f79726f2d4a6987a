#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>
#include <vector>
#include <cuda_runtime.h>

template <typename T>
std::vector<T> load_vector(const std::string& path, size_t count) {
    std::vector<T> data(count);
    std::ifstream in(path, std::ios::binary);
    if (!in.read(reinterpret_cast<char*>(data.data()), count * sizeof(T))) {
        std::cerr << "cannot read " << path << "\n";
        std::exit(1);
    }
    return data;
}

template <typename T>
void store_vector(const std::string& path, const std::vector<T>& data) {
    std::ofstream out(path, std::ios::binary);
    out.write(reinterpret_cast<const char*>(data.data()), data.size() * sizeof(T));
}
//@given

constexpr int kBatch = 2;
constexpr int kChannels = 6;
constexpr int kHeight = 50;
constexpr int kWidth = 60;

// A block serves one plane; a network of five exchanges sorts the window without branches.
__global__ void ordered_pool_planes(const float2* __restrict__ x, const float4* __restrict__ weights,
                                    float* __restrict__ y) {
    constexpr int ow = kWidth / 2;
    constexpr int cells = (kHeight / 2) * ow;
    const int plane = blockIdx.x;
    const float4 w = weights[plane % kChannels];
    const float2* in = x + (size_t)plane * kHeight * ow;
    for (int i = threadIdx.x; i < cells; i += blockDim.x) {
        const int at = (i / ow) * 2 * ow + i % ow;
        const float2 a = in[at], b = in[at + ow];
        const float h1 = fmaxf(a.x, a.y), l1 = fminf(a.x, a.y);
        const float h2 = fmaxf(b.x, b.y), l2 = fminf(b.x, b.y);
        const float m1 = fminf(h1, h2), m2 = fmaxf(l1, l2);
        y[(size_t)plane * cells + i] = w.x * fmaxf(h1, h2) + w.y * fmaxf(m1, m2) + w.z * fminf(m1, m2)
                                       + w.w * fminf(l1, l2);
    }
}

int main() {
    constexpr size_t x_size = size_t(kBatch) * kChannels * kHeight * kWidth;
    constexpr size_t weights_size = size_t(kChannels) * 4;
    constexpr size_t y_size = size_t(kBatch) * kChannels * (kHeight / 2) * (kWidth / 2);
    auto x = load_vector<float>("data/x.bin", x_size);
    const auto weights = load_vector<float>("data/weights.bin", weights_size);
    std::vector<float> y(y_size);

    float *d_x = nullptr, *d_weights = nullptr, *d_y = nullptr;
    cudaMalloc(&d_x, x_size * sizeof(float));
    cudaMalloc(&d_weights, weights_size * sizeof(float));
    cudaMalloc(&d_y, y_size * sizeof(float));
    cudaMemcpy(d_x, x.data(), x.size() * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_weights, weights.data(), weights.size() * sizeof(float), cudaMemcpyHostToDevice);

    ordered_pool_planes<<<kBatch * kChannels, 256>>>((const float2*)d_x, (const float4*)d_weights, d_y);
    if (const auto error = cudaDeviceSynchronize(); error != cudaSuccess) {
        std::cerr << cudaGetErrorString(error) << "\n";
        return 1;
    }

    cudaMemcpy(y.data(), d_y, y.size() * sizeof(float), cudaMemcpyDeviceToHost);
    store_vector("data/y.bin", y);
    cudaFree(d_x);
    cudaFree(d_weights);
    cudaFree(d_y);
    return 0;
}
