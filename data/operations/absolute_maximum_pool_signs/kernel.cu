#include <cstdint>
#include <fstream>
#include <iostream>
#include <stdexcept>
#include <string>
#include <vector>
#include <cuda_runtime.h>

constexpr int kChannels = 2;
constexpr int kDepth = 10;
constexpr int kHeight = 15;
constexpr int kWidth = 12;

template <typename T>
struct GpuArray {
    T* ptr = nullptr;
    explicit GpuArray(size_t count) {
        if (cudaMalloc(&ptr, count * sizeof(T)) != cudaSuccess) throw std::runtime_error("cudaMalloc failed");
    }
    ~GpuArray() { cudaFree(ptr); }
    GpuArray(const GpuArray&) = delete;
    GpuArray& operator=(const GpuArray&) = delete;
};

template <typename T>
std::vector<T> load(const std::string& path, size_t count) {
    std::vector<T> host(count);
    std::ifstream in(path, std::ios::binary);
    if (!in.read((char*)host.data(), count * sizeof(T))) throw std::runtime_error("cannot read " + path);
    return host;
}

__device__ void challenge(float v, int p, float& best, int& where) {
    if (fabsf(v) > fabsf(best)) {
        best = v;
        where = p;
    }
}

// Both values of a cell's row come with one 8-byte load; blockIdx.y runs over channel, depth and height.
__global__ void peak_pool_pairs(const float2* __restrict__ volume, float* __restrict__ peak,
                                uint8_t* __restrict__ place) {
    const int x = threadIdx.x + blockIdx.x * blockDim.x;
    if (x >= kWidth) return;
    const int y = blockIdx.y % kHeight, slab = blockIdx.y / kHeight;
    const float2* in = volume + ((size_t)slab * 2 * 2 * kHeight + 2 * y) * kWidth + x;
    float best = in[0].x;
    int where = 0;
    challenge(in[0].y, 1, best, where);
    for (int r = 1; r < 4; ++r) {
        const float2 v = in[((size_t)(r >> 1) * 2 * kHeight + (r & 1)) * kWidth];
        challenge(v.x, 2 * r, best, where);
        challenge(v.y, 2 * r + 1, best, where);
    }
    const size_t out = ((size_t)slab * kHeight + y) * kWidth + x;
    peak[out] = best;
    place[out] = (uint8_t)where;
}

int main() try {
    const size_t volumeSize = kChannels * kDepth * 2 * kHeight * 2 * kWidth * 2;
    const size_t peakSize = (size_t)kChannels * kDepth * kHeight * kWidth;
    std::vector<float> volume = load<float>("data/volume.bin", volumeSize);
    GpuArray<float> d_volume(volumeSize);
    GpuArray<float> d_peak(peakSize);
    GpuArray<uint8_t> d_place(peakSize);
    cudaMemcpy(d_volume.ptr, volume.data(), volumeSize * sizeof(float), cudaMemcpyHostToDevice);

    dim3 grid((kWidth + 64 - 1) / 64, kChannels * kDepth * kHeight);
    peak_pool_pairs<<<grid, 64>>>((const float2*)d_volume.ptr, d_peak.ptr, d_place.ptr);
    if (cudaDeviceSynchronize() != cudaSuccess) throw std::runtime_error("kernel failed");

    std::vector<float> peak(peakSize);
    cudaMemcpy(peak.data(), d_peak.ptr, peakSize * sizeof(float), cudaMemcpyDeviceToHost);
    std::ofstream("data/peak.bin", std::ios::binary)
        .write((const char*)peak.data(), peakSize * sizeof(float));
    std::vector<uint8_t> place(peakSize);
    cudaMemcpy(place.data(), d_place.ptr, peakSize * sizeof(uint8_t), cudaMemcpyDeviceToHost);
    std::ofstream("data/place.bin", std::ios::binary)
        .write((const char*)place.data(), peakSize * sizeof(uint8_t));
    return 0;
} catch (const std::exception& e) {
    std::cerr << e.what() << '\n';
    return 1;
}
