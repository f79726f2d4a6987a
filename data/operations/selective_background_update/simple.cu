#include <cstdint>
#include <fstream>
#include <iostream>
#include <stdexcept>
#include <string>
#include <vector>
#include <cuda_runtime.h>

constexpr int kCount = 10;
constexpr int kHeight = 40;
constexpr int kWidth = 50;

template <typename T>
struct GpuArray {
    T* data = nullptr;
    explicit GpuArray(size_t count) {
        if (cudaMalloc(&data, count * sizeof(T)) != cudaSuccess) throw std::runtime_error("cudaMalloc failed");
    }
    ~GpuArray() { cudaFree(data); }
    GpuArray(const GpuArray&) = delete;
    GpuArray& operator=(const GpuArray&) = delete;
};

template <typename T>
std::vector<T> read_input(const std::string& path, size_t count) {
    std::vector<T> host(count);
    std::ifstream in(path, std::ios::binary);
    if (!in.read((char*)host.data(), count * sizeof(T))) throw std::runtime_error("cannot read " + path);
    return host;
}

__global__ void update_background(const uint8_t* frames, const int* initial, int* background, int* foreground) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= kHeight * kWidth) return;
    int b = initial[i];
    int seen = 0;
    for (int k = 0; k < kCount; ++k) {
        int d = 256 * frames[(size_t)k * kHeight * kWidth + i] - b;
        if (abs(d) <= 6400) {
            b += d >> 4;
        } else {
            b += d > 0 ? 8 : -8;
            ++seen;
        }
    }
    background[i] = b;
    foreground[i] = seen;
}

int main() try {
    const size_t frames_count = (size_t)kCount * kHeight * kWidth;
    const size_t initial_count = (size_t)kHeight * kWidth;
    std::vector<uint8_t> frames = read_input<uint8_t>("data/frames.bin", frames_count);
    std::vector<int> initial = read_input<int>("data/initial.bin", initial_count);
    GpuArray<uint8_t> d_frames(frames_count);
    GpuArray<int> d_initial(initial_count);
    GpuArray<int> d_background(initial_count);
    GpuArray<int> d_foreground(initial_count);
    cudaMemcpy(d_frames.data, frames.data(), frames_count * sizeof(uint8_t), cudaMemcpyHostToDevice);
    cudaMemcpy(d_initial.data, initial.data(), initial_count * sizeof(int), cudaMemcpyHostToDevice);

    int threads = 256;
    update_background<<<(kHeight * kWidth + threads - 1) / threads, threads>>>(d_frames.data, d_initial.data,
            d_background.data, d_foreground.data);
    if (cudaDeviceSynchronize() != cudaSuccess) throw std::runtime_error("kernel failed");

    std::vector<int> background(initial_count);
    cudaMemcpy(background.data(), d_background.data, initial_count * sizeof(int), cudaMemcpyDeviceToHost);
    std::ofstream("data/background.bin", std::ios::binary)
        .write((const char*)background.data(), initial_count * sizeof(int));
    std::vector<int> foreground(initial_count);
    cudaMemcpy(foreground.data(), d_foreground.data, initial_count * sizeof(int), cudaMemcpyDeviceToHost);
    std::ofstream("data/foreground.bin", std::ios::binary)
        .write((const char*)foreground.data(), initial_count * sizeof(int));
    return 0;
} catch (const std::exception& e) {
    std::cerr << e.what() << '\n';
    return 1;
}
