#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>
#include <vector>
#include <cuda_runtime.h>

template <typename T>
std::vector<T> from_file(const std::string& path, size_t count) {
    std::vector<T> v(count);
    std::ifstream file(path, std::ios::binary);
    if (!file.read(reinterpret_cast<char*>(v.data()), count * sizeof(T))) {
        std::cerr << "failed to read " << path << '\n';
        std::exit(1);
    }
    return v;
}

template <typename T>
void to_file(const std::string& path, const std::vector<T>& v) {
    std::ofstream file(path, std::ios::binary);
    file.write(reinterpret_cast<const char*>(v.data()), v.size() * sizeof(T));
}
//@given

constexpr int kChannels = 2;
constexpr int kDepth = 10;
constexpr int kHeight = 15;
constexpr int kWidth = 12;
constexpr int kCells = kChannels * kDepth * kHeight * kWidth;

__global__ void peak_pool(const float* volume, float* peak, uint8_t* place) {
    int k = blockIdx.x * blockDim.x + threadIdx.x;
    if (k >= kCells) return;
    int x = k % kWidth;
    int y = k / kWidth % kHeight;
    int z = k / (kWidth * kHeight) % kDepth;
    int c = k / (kWidth * kHeight * kDepth);
    float best = 0.0f;
    int where = -1;
    for (int p = 0; p < 8; ++p) {
        int zz = 2 * z + (p >> 2), yy = 2 * y + ((p >> 1) & 1), xx = 2 * x + (p & 1);
        float v = volume[(((size_t)c * 2 * kDepth + zz) * 2 * kHeight + yy) * 2 * kWidth + xx];
        if (where < 0 || fabsf(v) > fabsf(best)) {
            best = v;
            where = p;
        }
    }
    peak[k] = best;
    place[k] = (uint8_t)where;
}

int main() {
    const size_t volume_count = (size_t)kChannels * kDepth * 2 * kHeight * 2 * kWidth * 2;
    const size_t peak_count = kChannels * kDepth * kHeight * kWidth;
    auto volume = from_file<float>("data/volume.bin", volume_count);
    std::vector<float> peak(peak_count);
    std::vector<uint8_t> place(peak_count);

    float *d_volume, *d_peak;
    uint8_t *d_place;
    cudaMalloc(&d_volume, volume.size() * sizeof(float));
    cudaMalloc(&d_peak, peak.size() * sizeof(float));
    cudaMalloc(&d_place, place.size() * sizeof(uint8_t));
    cudaMemcpy(d_volume, volume.data(), volume.size() * sizeof(float), cudaMemcpyHostToDevice);

    int threads = 256;
    peak_pool<<<(kCells + threads - 1) / threads, threads>>>(d_volume, d_peak, d_place);
    if (auto err = cudaDeviceSynchronize(); err != cudaSuccess) {
        std::cerr << cudaGetErrorString(err) << '\n';
        return 1;
    }

    cudaMemcpy(peak.data(), d_peak, peak.size() * sizeof(float), cudaMemcpyDeviceToHost);
    to_file("data/peak.bin", peak);
    cudaMemcpy(place.data(), d_place, place.size() * sizeof(uint8_t), cudaMemcpyDeviceToHost);
    to_file("data/place.bin", place);
    cudaFree(d_volume);
    cudaFree(d_peak);
    cudaFree(d_place);
    return 0;
}
