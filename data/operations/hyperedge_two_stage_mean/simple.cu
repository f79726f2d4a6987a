#include <cuda_runtime.h>
#include <vector>
#include <fstream>
#include <string>
#include <stdexcept>

constexpr int kNodes = 400;
constexpr int kHyperedges = 300;
constexpr int kSize = 6;
constexpr int kChannels = 16;

template <typename T>
struct GpuArray {
    T* data = nullptr;
    explicit GpuArray(size_t n) {
        if (cudaMalloc(&data, n * sizeof(T)) != cudaSuccess) throw std::runtime_error("cudaMalloc failed");
    }
    ~GpuArray() { cudaFree(data); }
    GpuArray(const GpuArray&) = delete;
    GpuArray& operator=(const GpuArray&) = delete;
};

template <typename T>
std::vector<T> read_input(const std::string& path, size_t n) {
    std::vector<T> v(n);
    std::ifstream in(path, std::ios::binary);
    if (!in.read(reinterpret_cast<char*>(v.data()),
            n * sizeof(T))) throw std::runtime_error("cannot read " + path);
    return v;
}

__global__ void hyperedge_means(const int* member, const float* feature, float* mean) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= kHyperedges * kChannels) return;
    int e = i / kChannels, c = i % kChannels;
    float sum = 0.0f;
    int used = 0;
    for (int k = 0; k < kSize; ++k) {
        int v = member[e * kSize + k];
        if (v >= 0) {
            sum += feature[v * kChannels + c];
            ++used;
        }
    }
    mean[i] = sum / used;
}

__global__ void scatter_means(const int* member, const float* mean, float* total, int* count) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= kHyperedges * kChannels) return;
    int e = i / kChannels, c = i % kChannels;
    for (int k = 0; k < kSize; ++k) {
        int v = member[e * kSize + k];
        if (v < 0) continue;
        atomicAdd(&total[v * kChannels + c], mean[i]);
        if (c == 0) atomicAdd(&count[v], 1);
    }
}

__global__ void finish(const float* feature, const int* count, float* smoothed) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= kNodes * kChannels) return;
    int n = count[i / kChannels];
    smoothed[i] = n > 0 ? smoothed[i] / n : feature[i];
}

int main() {
    std::vector<int> h_member = read_input<int>("data/member.bin", kHyperedges * kSize);
    std::vector<float> h_feature = read_input<float>("data/feature.bin", kNodes * kChannels);
    std::vector<float> h_smoothed(kNodes * kChannels);

    GpuArray<int> member(kHyperedges * kSize);
    GpuArray<float> feature(kNodes * kChannels);
    GpuArray<float> smoothed(kNodes * kChannels);
    GpuArray<float> mean(kHyperedges * kChannels);
    GpuArray<int> count(kNodes);
    cudaMemcpy(member.data, h_member.data(), kHyperedges * kSize * sizeof(int), cudaMemcpyHostToDevice);
    cudaMemcpy(feature.data, h_feature.data(), kNodes * kChannels * sizeof(float), cudaMemcpyHostToDevice);

    cudaMemset(smoothed.data, 0, kNodes * kChannels * sizeof(float));
    cudaMemset(count.data, 0, kNodes * sizeof(int));
    int blocks = (kHyperedges * kChannels + 255) / 256;
    hyperedge_means<<<blocks, 256>>>(member.data, feature.data, mean.data);
    scatter_means<<<blocks, 256>>>(member.data, mean.data, smoothed.data, count.data);
    finish<<<(kNodes * kChannels + 255) / 256, 256>>>(feature.data, count.data, smoothed.data);
    if (cudaDeviceSynchronize() != cudaSuccess) throw std::runtime_error("kernel failed");
    cudaMemcpy(h_smoothed.data(), smoothed.data, kNodes * kChannels * sizeof(float), cudaMemcpyDeviceToHost);

    std::ofstream("data/smoothed.bin",
            std::ios::binary).write(reinterpret_cast<const char*>(h_smoothed.data()),
                    kNodes * kChannels * sizeof(float));
}
