#include <cuda_runtime.h>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

constexpr int kBatch = 2;
constexpr int kGroups = 3;
constexpr int kPerGroup = 8;
constexpr int kPlane = 196;
constexpr int kChannels = kGroups * kPerGroup;

template <typename T>
struct DeviceArray {
    T* p = nullptr;
    explicit DeviceArray(size_t n) {
        if (cudaMalloc(&p, n * sizeof(T)) != cudaSuccess) throw std::runtime_error("cudaMalloc failed");
    }
    ~DeviceArray() { cudaFree(p); }
    DeviceArray(const DeviceArray&) = delete;
    DeviceArray& operator=(const DeviceArray&) = delete;
};

template <typename T>
void read_values(const std::string& path, std::vector<T>& v) {
    std::ifstream in(path, std::ios::binary);
    if (!in.read(reinterpret_cast<char*>(v.data()), v.size() * sizeof(T)))
        throw std::runtime_error("cannot read " + path);
}

__global__ void channel_shuffle(const float* x, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        int p = i % kPlane;
        int out_c = i / kPlane % kChannels;
        int b = i / (kPlane * kChannels);
        int in_c = out_c % kGroups * kPerGroup + out_c / kGroups;
        y[i] = x[(b * kChannels + in_c) * kPlane + p];
    }
}

int main() {
    const size_t x_total = (size_t)kBatch * kGroups * kPerGroup * kPlane;
    const size_t y_total = (size_t)kBatch * (kGroups * kPerGroup) * kPlane;
    std::vector<float> x(x_total);
    std::vector<float> y(y_total);
    read_values("data/x.bin", x);

    DeviceArray<float> d_x(x_total), d_y(y_total);
    cudaMemcpy(d_x.p, x.data(), x_total * sizeof(float), cudaMemcpyHostToDevice);

    int n = kBatch * kChannels * kPlane;
    channel_shuffle<<<(n + 255) / 256, 256>>>(d_x.p, d_y.p, n);
    cudaError_t status = cudaDeviceSynchronize();
    if (status != cudaSuccess) throw std::runtime_error(cudaGetErrorString(status));

    cudaMemcpy(y.data(), d_y.p, y_total * sizeof(float), cudaMemcpyDeviceToHost);
    std::ofstream("data/y.bin", std::ios::binary).write(reinterpret_cast<const char*>(y.data()),
        y_total * sizeof(float));
    return 0;
}
