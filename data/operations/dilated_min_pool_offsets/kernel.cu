#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>
#include <vector>
#include <cuda_runtime.h>

template <typename T>
std::vector<T> load_vector(const std::string& path, size_t count) {
    std::vector<T> v(count);
    std::ifstream in(path, std::ios::binary);
    if (!in.read(reinterpret_cast<char*>(v.data()), count * sizeof(T))) {
        std::cerr << "cannot load " << path << std::endl;
        std::exit(1);
    }
    return v;
}

template <typename T>
void store_vector(const std::string& path, const std::vector<T>& v) {
    std::ofstream out(path, std::ios::binary);
    out.write(reinterpret_cast<const char*>(v.data()), v.size() * sizeof(T));
}
//@given

constexpr int kChannels = 16;
constexpr int kLength = 1000;

constexpr int kOut = kLength - 12;
constexpr int kBlock = 256;

// The stretch of the signal that a block needs is staged in shared memory.
__global__ void dilated_min_shared(const float* __restrict__ signal, float* __restrict__ low,
                                   int* __restrict__ offset) {
    __shared__ float s[kBlock + 12];
    const int start = blockIdx.x * kBlock;
    const float* src = signal + (size_t)blockIdx.y * kLength;
    for (int i = threadIdx.x; i < kBlock + 12; i += kBlock)
        if (start + i < kLength) s[i] = src[start + i];
    __syncthreads();
    const int t = start + threadIdx.x;
    if (t >= kOut) return;
    float best = s[threadIdx.x + 12];
    int where = 4;
#pragma unroll
    for (int k = 3; k >= 0; --k) {
        float v = s[threadIdx.x + 3 * k];
        where = v <= best ? k : where;
        best = fminf(best, v);
    }
    const size_t at = (size_t)blockIdx.y * kOut + t;
    low[at] = best;
    offset[at] = where;
}

int main() {
    constexpr size_t signal_elems = size_t(kChannels) * kLength;
    constexpr size_t low_elems = size_t(kChannels) * (kLength - 12);
    const auto h_signal = load_vector<float>("data/signal.bin", signal_elems);
    std::vector<float> h_low(low_elems);
    std::vector<int> h_offset(low_elems);

    float *d_signal = nullptr, *d_low = nullptr;
    int *d_offset = nullptr;
    cudaMalloc(&d_signal, signal_elems * sizeof(float));
    cudaMalloc(&d_low, low_elems * sizeof(float));
    cudaMalloc(&d_offset, low_elems * sizeof(int));
    cudaMemcpy(d_signal, h_signal.data(), h_signal.size() * sizeof(float), cudaMemcpyHostToDevice);

    dim3 grid((kOut + kBlock - 1) / kBlock, kChannels);
    dilated_min_shared<<<grid, kBlock>>>(d_signal, d_low, d_offset);
    if (const auto err = cudaDeviceSynchronize(); err != cudaSuccess) {
        std::cerr << cudaGetErrorString(err) << std::endl;
        return 1;
    }

    cudaMemcpy(h_low.data(), d_low, h_low.size() * sizeof(float), cudaMemcpyDeviceToHost);
    cudaMemcpy(h_offset.data(), d_offset, h_offset.size() * sizeof(int), cudaMemcpyDeviceToHost);
    store_vector("data/low.bin", h_low);
    store_vector("data/offset.bin", h_offset);
    cudaFree(d_signal);
    cudaFree(d_low);
    cudaFree(d_offset);
    return 0;
}
