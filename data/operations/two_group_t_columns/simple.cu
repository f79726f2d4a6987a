#include <fstream>
#include <stdexcept>
#include <vector>
#include <cuda_runtime.h>

constexpr int kRows = 120;
constexpr int kCols = 200;

template <typename T>
struct DeviceBuffer {
    T* data = nullptr;
    explicit DeviceBuffer(size_t count) {
        if (cudaMalloc(&data, count * sizeof(T)) != cudaSuccess) throw std::runtime_error("cudaMalloc failed");
    }
    ~DeviceBuffer() { cudaFree(data); }
    DeviceBuffer(const DeviceBuffer&) = delete;
    DeviceBuffer& operator=(const DeviceBuffer&) = delete;
};

__global__ void welch_t(const float* x, const unsigned char* group, float* t) {
    int c = blockIdx.x * blockDim.x + threadIdx.x;
    if (c >= kCols) return;
    float mean[2] = {0.0f, 0.0f};
    float var[2] = {0.0f, 0.0f};
    int n[2] = {0, 0};
    for (int r = 0; r < kRows; ++r) {
        int g = group[r];
        mean[g] += x[(size_t)r * kCols + c];
        n[g]++;
    }
    mean[0] /= n[0];
    mean[1] /= n[1];
    for (int r = 0; r < kRows; ++r) {
        int g = group[r];
        float d = x[(size_t)r * kCols + c] - mean[g];
        var[g] += d * d;
    }
    var[0] /= n[0] - 1;
    var[1] /= n[1] - 1;
    t[c] = (mean[1] - mean[0]) / sqrtf(var[1] / n[1] + var[0] / n[0] + 1e-6f);
}

int main() {
    std::vector<float> host_x(kRows * kCols);
    std::vector<unsigned char> host_group(kRows);
    std::vector<float> host_t(kCols);
    std::ifstream xIn("data/x.bin", std::ios::binary);
    if (!xIn.read(reinterpret_cast<char*>(host_x.data()), kRows * kCols * sizeof(float)))
        throw std::runtime_error("cannot read data/x.bin");
    std::ifstream groupIn("data/group.bin", std::ios::binary);
    if (!groupIn.read(reinterpret_cast<char*>(host_group.data()), kRows * sizeof(unsigned char)))
        throw std::runtime_error("cannot read data/group.bin");

    DeviceBuffer<float> d_x(kRows * kCols);
    DeviceBuffer<unsigned char> d_group(kRows);
    DeviceBuffer<float> d_t(kCols);
    cudaMemcpy(d_x.data, host_x.data(), kRows * kCols * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_group.data, host_group.data(), kRows * sizeof(unsigned char), cudaMemcpyHostToDevice);

    welch_t<<<(kCols - 1) / 64 + 1, 64>>>(d_x.data, d_group.data, d_t.data);
    if (cudaGetLastError() != cudaSuccess) throw std::runtime_error("launch failed");
    cudaMemcpy(host_t.data(), d_t.data, kCols * sizeof(float), cudaMemcpyDeviceToHost);

    std::ofstream("data/t.bin", std::ios::binary)
        .write(reinterpret_cast<const char*>(host_t.data()), kCols * sizeof(float));
    return 0;
}
