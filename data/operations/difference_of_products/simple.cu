#include <fstream>
#include <iostream>
#include <stdexcept>
#include <string>
#include <vector>

#include <cuda_runtime.h>

constexpr int kN = 10000;

struct DevMem {
    float* p = nullptr;
    explicit DevMem(size_t n) {
        if (cudaMalloc(&p, n * sizeof(float)) != cudaSuccess) throw std::runtime_error("cudaMalloc failed");
    }
    ~DevMem() { cudaFree(p); }
    DevMem(const DevMem&) = delete;
    DevMem& operator=(const DevMem&) = delete;
    float* get() { return p; }
};

void readVector(const std::string& path, std::vector<float>& v) {
    std::ifstream f(path, std::ios::binary);
    if (!f.read(reinterpret_cast<char*>(v.data()), v.size() * sizeof(float)))
        throw std::runtime_error("cannot read " + path);
}

__global__ void difference_kernel(const float* a, const float* b, const float* c, const float* d,
        float* result, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        double left = (double)a[i] * (double)b[i];
        double right = (double)c[i] * (double)d[i];
        result[i] = (float)(left - right);
    }
}

int main() {
    const size_t size_bytes = kN * sizeof(float);
    std::vector<float> a(kN);
    std::vector<float> b(kN);
    std::vector<float> c(kN);
    std::vector<float> d(kN);
    std::vector<float> result(kN);
    readVector("data/a.bin", a);
    readVector("data/b.bin", b);
    readVector("data/c.bin", c);
    readVector("data/d.bin", d);

    DevMem d_a(kN);
    DevMem d_b(kN);
    DevMem d_c(kN);
    DevMem d_d(kN);
    DevMem d_result(kN);
    cudaMemcpy(d_a.get(), a.data(), size_bytes, cudaMemcpyHostToDevice);
    cudaMemcpy(d_b.get(), b.data(), size_bytes, cudaMemcpyHostToDevice);
    cudaMemcpy(d_c.get(), c.data(), size_bytes, cudaMemcpyHostToDevice);
    cudaMemcpy(d_d.get(), d.data(), size_bytes, cudaMemcpyHostToDevice);

    const int block = 256;
    const int grid = (kN + block - 1) / block;
    difference_kernel<<<grid, block>>>(d_a.get(), d_b.get(), d_c.get(), d_d.get(), d_result.get(), kN);
    if (cudaDeviceSynchronize() != cudaSuccess) throw std::runtime_error("kernel failed");

    cudaMemcpy(result.data(), d_result.get(), size_bytes, cudaMemcpyDeviceToHost);
    std::ofstream out("data/result.bin", std::ios::binary);
    out.write(reinterpret_cast<const char*>(result.data()), size_bytes);
    return 0;
}
