#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>
#include <cuda_runtime.h>

constexpr int MARKETS = 5;
constexpr int CURRENCIES = 45;

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
void read_binary(const std::string& path, std::vector<T>& v) {
    std::ifstream in(path, std::ios::binary);
    if (!in.read(reinterpret_cast<char*>(v.data()), v.size() * sizeof(T)))
        throw std::runtime_error("cannot read " + path);
}

__global__ void best_detour(const float* rate, float* advantage, int* via) {
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    int i = blockIdx.y;
    if (j >= CURRENCIES) return;
    size_t base = (size_t)blockIdx.z * CURRENCIES * CURRENCIES;
    const float* r = rate + base;
    float best = -1.0f;
    int where = -1;
    for (int k = 0; k < CURRENCIES; k++) {
        if (k == i || k == j) continue;
        float product = r[i * CURRENCIES + k] * r[k * CURRENCIES + j];
        if (product > best) {
            best = product;
            where = k;
        }
    }
    int at = i * CURRENCIES + j;
    advantage[base + at] = best / r[at];
    via[base + at] = where;
}

int main() {
    size_t total = size_t(MARKETS) * CURRENCIES * CURRENCIES;
    std::vector<float> host_rate(total);
    std::vector<float> host_advantage(total);
    std::vector<int> host_via(total);
    read_binary("data/rate.bin", host_rate);

    DeviceBuffer<float> d_rate(total), d_advantage(total);
    DeviceBuffer<int> d_via(total);
    cudaMemcpy(d_rate.ptr, host_rate.data(), total * sizeof(float), cudaMemcpyHostToDevice);

    dim3 grid((CURRENCIES + 127) / 128, CURRENCIES, MARKETS);
    best_detour<<<grid, 128>>>(d_rate.ptr, d_advantage.ptr, d_via.ptr);
    cudaError_t err = cudaDeviceSynchronize();
    if (err != cudaSuccess) throw std::runtime_error(cudaGetErrorString(err));

    cudaMemcpy(host_advantage.data(), d_advantage.ptr, total * sizeof(float), cudaMemcpyDeviceToHost);
    std::ofstream("data/advantage.bin",
            std::ios::binary).write(reinterpret_cast<const char*>(host_advantage.data()),
        total * sizeof(float));
    cudaMemcpy(host_via.data(), d_via.ptr, total * sizeof(int), cudaMemcpyDeviceToHost);
    std::ofstream("data/via.bin", std::ios::binary).write(reinterpret_cast<const char*>(host_via.data()),
        total * sizeof(int));
    return 0;
}
