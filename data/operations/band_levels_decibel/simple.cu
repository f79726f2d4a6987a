#include <cuda_runtime.h>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

constexpr int kFrames = 120;
constexpr int kBins = 129;
constexpr int kBands = 10;

template <typename T>
struct DeviceArray {
    T* p = nullptr;
    size_t count;
    explicit DeviceArray(size_t n) : count(n) {
        if (cudaMalloc(&p, n * sizeof(T)) != cudaSuccess) throw std::runtime_error("cudaMalloc failed");
    }
    ~DeviceArray() { cudaFree(p); }
    DeviceArray(const DeviceArray&) = delete;
    DeviceArray& operator=(const DeviceArray&) = delete;
    void from_host(const std::vector<T>& v) {
        cudaMemcpy(p, v.data(), count * sizeof(T), cudaMemcpyHostToDevice);
    }
    void to_host(std::vector<T>& v) const {
        cudaMemcpy(v.data(), p, count * sizeof(T), cudaMemcpyDeviceToHost);
    }
};

template <typename T>
std::vector<T> load(const std::string& path, size_t n) {
    std::vector<T> v(n);
    std::ifstream in(path, std::ios::binary);
    in.read(reinterpret_cast<char*>(v.data()), n * sizeof(T));
    if (!in) throw std::runtime_error("cannot read " + path);
    return v;
}

__global__ void band_levels(const float* power, const int* edge, float* level) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= kFrames * kBands) return;
    int f = i / kBands;
    int j = i % kBands;
    int begin = edge[j], end = edge[j + 1];
    if (begin == end) {
        level[i] = -120.0f;
        return;
    }
    float sum = 0.0f;
    for (int b = begin; b < end; b++) sum += power[f * kBins + b];
    level[i] = 10.0f * log10f(sum / (end - begin) + 1e-12f);
}

int main() {
    std::vector<float> power = load<float>("data/power.bin", kFrames * kBins);
    std::vector<int> edge = load<int>("data/edge.bin", kBands + 1);
    std::vector<float> level(kFrames * kBands);

    DeviceArray<float> d_power(kFrames * kBins);
    DeviceArray<int> d_edge(kBands + 1);
    DeviceArray<float> d_level(kFrames * kBands);
    d_power.from_host(power);
    d_edge.from_host(edge);

    int threads = 256;
    band_levels<<<(kFrames * kBands + 255) / 256, threads>>>(d_power.p, d_edge.p, d_level.p);
    if (cudaDeviceSynchronize() != cudaSuccess) throw std::runtime_error("kernel failed");

    d_level.to_host(level);
    std::ofstream out("data/level.bin", std::ios::binary);
    out.write((char*)level.data(), sizeof(float) * kFrames * kBands);
    return 0;
}
