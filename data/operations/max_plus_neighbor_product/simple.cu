#include <cuda_runtime.h>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

constexpr int kNodes = 1500;
constexpr int kWidth = 8;

template <typename T>
struct DeviceBuffer {
    T* ptr = nullptr;
    explicit DeviceBuffer(size_t n) {
        if (cudaMalloc(&ptr, n * sizeof(T)) != cudaSuccess) throw std::runtime_error("cudaMalloc failed");
    }
    ~DeviceBuffer() { cudaFree(ptr); }
    DeviceBuffer(const DeviceBuffer&) = delete;
    DeviceBuffer& operator=(const DeviceBuffer&) = delete;
};

template <typename T>
std::vector<T> read_input(const std::string& path, size_t n) {
    std::vector<T> v(n);
    std::ifstream in(path, std::ios::binary);
    if (!in.read(reinterpret_cast<char*>(v.data()),
            n * sizeof(T))) throw std::runtime_error("cannot read " + path);
    return v;
}

__global__ void best_move(const int* neighbor, const float* gain, const float* potential, float* best,
        int* choice) {
    int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v >= kNodes) return;
    float top = -1000.0f;
    int slot = -1;
    for (int k = 0; k < kWidth; ++k) {
        int u = neighbor[v * kWidth + k];
        if (u < 0) continue;
        float value = gain[v * kWidth + k] + potential[u];
        if (slot < 0 || value > top) {
            top = value;
            slot = k;
        }
    }
    best[v] = top;
    choice[v] = slot;
}

int main() {
    std::vector<int> h_neighbor = read_input<int>("data/neighbor.bin", kNodes * kWidth);
    std::vector<float> h_gain = read_input<float>("data/gain.bin", kNodes * kWidth);
    std::vector<float> h_potential = read_input<float>("data/potential.bin", kNodes);
    std::vector<float> h_best(kNodes);
    std::vector<int> h_choice(kNodes);

    DeviceBuffer<int> d_neighbor(kNodes * kWidth);
    DeviceBuffer<float> d_gain(kNodes * kWidth);
    DeviceBuffer<float> d_potential(kNodes);
    DeviceBuffer<float> d_best(kNodes);
    DeviceBuffer<int> d_choice(kNodes);
    cudaMemcpy(d_neighbor.ptr, h_neighbor.data(), kNodes * kWidth * sizeof(int), cudaMemcpyHostToDevice);
    cudaMemcpy(d_gain.ptr, h_gain.data(), kNodes * kWidth * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_potential.ptr, h_potential.data(), kNodes * sizeof(float), cudaMemcpyHostToDevice);

    best_move<<<(kNodes + 255) / 256, 256>>>(d_neighbor.ptr, d_gain.ptr, d_potential.ptr, d_best.ptr,
            d_choice.ptr);
    if (cudaDeviceSynchronize() != cudaSuccess) throw std::runtime_error("kernel failed");
    cudaMemcpy(h_best.data(), d_best.ptr, kNodes * sizeof(float), cudaMemcpyDeviceToHost);
    cudaMemcpy(h_choice.data(), d_choice.ptr, kNodes * sizeof(int), cudaMemcpyDeviceToHost);

    std::ofstream("data/best.bin", std::ios::binary).write(reinterpret_cast<const char*>(h_best.data()),
            kNodes * sizeof(float));
    std::ofstream("data/choice.bin",
            std::ios::binary).write(reinterpret_cast<const char*>(h_choice.data()), kNodes * sizeof(int));
}
