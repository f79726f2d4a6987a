#include <cuda_runtime.h>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

constexpr int kRows = 15;
constexpr int kCols = 200;

struct GpuArray {
    float* ptr = nullptr;
    size_t count;
    explicit GpuArray(size_t n) : count(n) {
        if (cudaMalloc(&ptr, n * sizeof(float)) != cudaSuccess) throw std::runtime_error("cudaMalloc failed");
    }
    ~GpuArray() { cudaFree(ptr); }
    GpuArray(const GpuArray&) = delete;
    GpuArray& operator=(const GpuArray&) = delete;
    void upload(const std::vector<float>& v) {
        cudaMemcpy(ptr, v.data(), count * sizeof(float), cudaMemcpyHostToDevice);
    }
    void download(std::vector<float>& v) const {
        cudaMemcpy(v.data(), ptr, count * sizeof(float), cudaMemcpyDeviceToHost);
    }
};

std::vector<float> load(const std::string& path, size_t n) {
    std::vector<float> v(n);
    std::ifstream in(path, std::ios::binary);
    in.read(reinterpret_cast<char*>(v.data()), n * sizeof(float));
    if (!in) throw std::runtime_error("cannot read " + path);
    return v;
}

__global__ void upsample(const float* x, float* y) {
    int k = blockIdx.x * blockDim.x + threadIdx.x;
    if (k >= kRows * kCols * 8) return;
    int i = k / 8;
    int col = i % kCols;
    float left = x[i];
    float step = col + 1 < kCols ? x[i + 1] - left : left - x[i - 1];
    y[k] = left + (k % 8) / 8.0f * step;
}

int main() {
    const int count_x = kRows * kCols;
    const int count_y = kRows * (kCols * 8);
    std::vector<float> h_x = load("data/x.bin", count_x);
    std::vector<float> h_y(count_y);

    GpuArray dev_x(count_x);
    GpuArray dev_y(count_y);
    dev_x.upload(h_x);

    upsample<<<(kRows * kCols * 8 + 255) / 256, 256>>>(dev_x.ptr, dev_y.ptr);
    if (cudaDeviceSynchronize() != cudaSuccess) throw std::runtime_error("kernel failed");

    dev_y.download(h_y);
    std::ofstream out("data/y.bin", std::ios::binary);
    out.write((char*)h_y.data(), sizeof(float) * count_y);
    return 0;
}
