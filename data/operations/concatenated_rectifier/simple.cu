#include <fstream>
#include <iostream>
#include <stdexcept>
#include <string>
#include <vector>
#include <cuda_runtime.h>

struct DevMem {
    float* p = nullptr;
    explicit DevMem(size_t n) { cudaMalloc(&p, n * sizeof(float)); }
    ~DevMem() { cudaFree(p); }
    DevMem(const DevMem&) = delete;
    void operator=(const DevMem&) = delete;
    float* get() { return p; }
};

void load(const std::string& path, std::vector<float>& v) {
    std::ifstream f(path, std::ios::binary);
    if (!f.read(reinterpret_cast<char*>(v.data()), v.size() * sizeof(float)))
        throw std::runtime_error("cannot read " + path);
}

constexpr int kRows = 100;
constexpr int kCols = 150;

__global__ void crelu(const float* x, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        int r = i / kCols;
        int c = i % kCols;
        float v = x[i];
        size_t row = (size_t)r * 2 * kCols;
        y[row + c] = fmaxf(v, 0.0f);
        y[row + kCols + c] = fmaxf(-v, 0.0f);
    }
}

int main() {
    try {
        const int n = kRows * kCols;
        const size_t y_count = kRows * (kCols * 2);
        std::vector<float> h_x(n);
        std::vector<float> h_y(y_count);
        load("data/x.bin", h_x);

        DevMem d_x(n);
        DevMem d_y(y_count);
        cudaMemcpy(d_x.get(), h_x.data(), n * sizeof(float), cudaMemcpyHostToDevice);

        const int threads = 256;
        crelu<<<(n + threads - 1) / threads, threads>>>(d_x.get(), d_y.get(), n);
        if (cudaDeviceSynchronize() != cudaSuccess) throw std::runtime_error("kernel failed");
        cudaMemcpy(h_y.data(), d_y.get(), y_count * sizeof(float), cudaMemcpyDeviceToHost);
        std::ofstream out("data/y.bin", std::ios::binary);
        out.write(reinterpret_cast<const char*>(h_y.data()), y_count * sizeof(float));
    } catch (const std::exception& e) {
        std::cerr << e.what() << std::endl;
        return 1;
    }
    return 0;
}
