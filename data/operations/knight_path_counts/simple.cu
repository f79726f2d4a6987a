#include <cstdint>
#include <fstream>
#include <iostream>
#include <stdexcept>
#include <string>
#include <vector>
#include <cuda_runtime.h>

constexpr int kHeight = 50;
constexpr int kWidth = 70;

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
std::vector<T> load(const std::string& path, size_t count) {
    std::vector<T> host(count);
    std::ifstream in(path, std::ios::binary);
    if (!in.read((char*)host.data(), count * sizeof(T))) throw std::runtime_error("cannot read " + path);
    return host;
}

__global__ void clear_blocked(const uint8_t* blocked, const uint32_t* initial, uint32_t* counts) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < kHeight * kWidth) counts[i] = blocked[i] ? 0u : initial[i];
}

__global__ void knight_move(const uint8_t* blocked, const uint32_t* from, uint32_t* to) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= kHeight * kWidth) return;
    const int dy[8] = {-2, -2, -1, -1, 1, 1, 2, 2};
    const int dx[8] = {-1, 1, -2, 2, -2, 2, -1, 1};
    int y = i / kWidth, x = i % kWidth;
    uint32_t sum = 0;
    if (!blocked[i]) {
        for (int k = 0; k < 8; ++k) {
            int yy = y + dy[k], xx = x + dx[k];
            if (yy >= 0 && yy < kHeight && xx >= 0 && xx < kWidth) sum += from[yy * kWidth + xx];
        }
    }
    to[i] = sum;
}

int main() try {
    const size_t n = kHeight * kWidth;
    std::vector<uint8_t> blocked = load<uint8_t>("data/blocked.bin", n);
    std::vector<uint32_t> initial = load<uint32_t>("data/initial.bin", n);
    GpuArray<uint8_t> d_blocked(n);
    GpuArray<uint32_t> d_initial(n);
    GpuArray<uint32_t> d_walks(n);
    GpuArray<uint32_t> d_buffer(kHeight * kWidth);
    cudaMemcpy(d_blocked.data, blocked.data(), n * sizeof(uint8_t), cudaMemcpyHostToDevice);
    cudaMemcpy(d_initial.data, initial.data(), n * sizeof(uint32_t), cudaMemcpyHostToDevice);

    const int threads = 256;
    const int blocks = (kHeight * kWidth + threads - 1) / threads;
    clear_blocked<<<blocks, threads>>>(d_blocked.data, d_initial.data, d_walks.data);
    for (int k = 0; k < 3; ++k) {
        knight_move<<<blocks, threads>>>(d_blocked.data, d_walks.data, d_buffer.data);
        knight_move<<<blocks, threads>>>(d_blocked.data, d_buffer.data, d_walks.data);
    }
    if (cudaDeviceSynchronize() != cudaSuccess) throw std::runtime_error("kernel failed");

    std::vector<uint32_t> walks(n);
    cudaMemcpy(walks.data(), d_walks.data, n * sizeof(uint32_t), cudaMemcpyDeviceToHost);
    std::ofstream("data/walks.bin", std::ios::binary)
        .write((const char*)walks.data(), n * sizeof(uint32_t));
    return 0;
} catch (const std::exception& e) {
    std::cerr << e.what() << '\n';
    return 1;
}
