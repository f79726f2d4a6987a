#include <fstream>
#include <iostream>
#include <stdexcept>
#include <string>
#include <vector>
#include <cuda_runtime.h>

constexpr int kRows = 100;
constexpr int kLenA = 60;
constexpr int kLenB = 45;

template <typename T>
struct GpuArray {
    T* p = nullptr;
    explicit GpuArray(size_t count) {
        if (cudaMalloc(&p, count * sizeof(T)) != cudaSuccess) throw std::runtime_error("cudaMalloc failed");
    }
    ~GpuArray() { cudaFree(p); }
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

__global__ void ks_distance(const float* sample_a, const float* sample_b, float* distance, float* location) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= kRows) return;
    const float* a = sample_a + (size_t)r * kLenA;
    const float* b = sample_b + (size_t)r * kLenB;
    int i = 0, j = 0, best = -1;
    float where = 0.0f;
    while (i < kLenA || j < kLenB) {
        float v;
        if (i == kLenA) v = b[j];
        else if (j == kLenB) v = a[i];
        else v = fminf(a[i], b[j]);
        while (i < kLenA && a[i] <= v) ++i;
        while (j < kLenB && b[j] <= v) ++j;
        int d = abs(i * kLenB - j * kLenA);
        if (d > best) {
            best = d;
            where = v;
        }
    }
    distance[r] = (float)best / ((float)kLenA * kLenB);
    location[r] = where;
}

int main() try {
    const size_t n_sample_a = (size_t)kRows * kLenA;
    const size_t n_sample_b = kRows * kLenB;
    std::vector<float> sample_a = load<float>("data/sample_a.bin", n_sample_a);
    std::vector<float> sample_b = load<float>("data/sample_b.bin", n_sample_b);
    GpuArray<float> d_sample_a(n_sample_a);
    GpuArray<float> d_sample_b(n_sample_b);
    GpuArray<float> d_distance(kRows);
    GpuArray<float> d_location(kRows);
    cudaMemcpy(d_sample_a.p, sample_a.data(), n_sample_a * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_sample_b.p, sample_b.data(), n_sample_b * sizeof(float), cudaMemcpyHostToDevice);

    int block = 64;
    ks_distance<<<(kRows + block - 1) / block, block>>>(d_sample_a.p, d_sample_b.p, d_distance.p, d_location.p);
    if (cudaDeviceSynchronize() != cudaSuccess) throw std::runtime_error("kernel failed");

    std::vector<float> distance(kRows);
    cudaMemcpy(distance.data(), d_distance.p, kRows * sizeof(float), cudaMemcpyDeviceToHost);
    std::ofstream("data/distance.bin", std::ios::binary)
        .write((const char*)distance.data(), kRows * sizeof(float));
    std::vector<float> location(kRows);
    cudaMemcpy(location.data(), d_location.p, kRows * sizeof(float), cudaMemcpyDeviceToHost);
    std::ofstream("data/location.bin", std::ios::binary)
        .write((const char*)location.data(), kRows * sizeof(float));
    return 0;
} catch (const std::exception& e) {
    std::cerr << e.what() << '\n';
    return 1;
}
