#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>
#include <vector>
#include <cuda_runtime.h>

template <typename T>
std::vector<T> from_file(const std::string& path, size_t n) {
    std::vector<T> v(n);
    std::ifstream in(path, std::ios::binary);
    if (!in.read(reinterpret_cast<char*>(v.data()), n * sizeof(T))) {
        std::cerr << "cannot read " << path << "\n";
        std::exit(1);
    }
    return v;
}

template <typename T>
void to_file(const std::string& path, const std::vector<T>& v) {
    std::ofstream out(path, std::ios::binary);
    out.write(reinterpret_cast<const char*>(v.data()), v.size() * sizeof(T));
}
//@given

constexpr int kSymbols = 30;
constexpr int kTicks = 400;
constexpr int kWindow = 20;
constexpr int kSpan = 256;

// Prices and volumes of 256 ticks and the 19 before them are staged; ticks before 0 get volume 0.
__global__ void window_vwap_tile(const float* __restrict__ price, const float* __restrict__ volume,
                                 float* __restrict__ vwap, float* __restrict__ deviation) {
    __shared__ float p[kSpan + kWindow - 1], v[kSpan + kWindow - 1];
    const size_t row = (size_t)blockIdx.y * kTicks;
    const int t0 = blockIdx.x * kSpan;
    for (int k = threadIdx.x; k < kSpan + kWindow - 1; k += kSpan) {
        const int t = t0 + k - (kWindow - 1);
        const bool ok = t >= 0 && t < kTicks;
        p[k] = ok ? price[row + t] : 0.0f;
        v[k] = ok ? volume[row + t] : 0.0f;
    }
    __syncthreads();
    const int t = t0 + threadIdx.x;
    if (t >= kTicks) return;
    // Prices relative to the current one keep the sums small.
    const float now = p[threadIdx.x + kWindow - 1];
    float total = 0.0f, first = 0.0f;
    for (int k = 0; k < kWindow; ++k) {
        const float w = v[threadIdx.x + k];
        total += w;
        first = fmaf(w, p[threadIdx.x + k] - now, first);
    }
    const float inv = total > 0.0f ? 1.0f / total : 0.0f;
    const float shift = first * inv;
    float second = 0.0f;
    for (int k = 0; k < kWindow; ++k) {
        const float d = p[threadIdx.x + k] - now - shift;
        second = fmaf(v[threadIdx.x + k] * d, d, second);
    }
    vwap[row + t] = now + shift;
    deviation[row + t] = sqrtf(second * inv);
}

int main() {
    constexpr size_t total = (size_t)kSymbols * kTicks;
    const auto price = from_file<float>("data/price.bin", total);
    auto volume = from_file<float>("data/volume.bin", total);
    std::vector<float> vwap(total);
    std::vector<float> deviation(total);

    float *d_price, *d_volume, *d_vwap, *d_deviation;
    cudaMalloc(&d_price, total * sizeof(float));
    cudaMalloc(&d_volume, total * sizeof(float));
    cudaMalloc(&d_vwap, total * sizeof(float));
    cudaMalloc(&d_deviation, total * sizeof(float));
    cudaMemcpy(d_price, price.data(), total * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_volume, volume.data(), total * sizeof(float), cudaMemcpyHostToDevice);

    window_vwap_tile<<<dim3((kTicks + kSpan - 1) / kSpan, kSymbols), kSpan>>>(d_price, d_volume, d_vwap,
            d_deviation);
    cudaError_t rc = cudaDeviceSynchronize();
    if (rc != cudaSuccess) {
        std::cerr << "kernel failed: " << cudaGetErrorString(rc) << '\n';
        return 1;
    }
    cudaMemcpy(vwap.data(), d_vwap, total * sizeof(float), cudaMemcpyDeviceToHost);
    cudaMemcpy(deviation.data(), d_deviation, total * sizeof(float), cudaMemcpyDeviceToHost);
    to_file("data/vwap.bin", vwap);
    to_file("data/deviation.bin", deviation);

    cudaFree(d_price);
    cudaFree(d_volume);
    cudaFree(d_vwap);
    cudaFree(d_deviation);
    return 0;
}
