#include <cuda_runtime.h>
#include <fstream>
#include <iostream>
#include <stdexcept>
#include <string>
#include <vector>

template <typename T>
struct DeviceArray {
    T* data = nullptr;
    size_t count = 0;
    explicit DeviceArray(size_t n) : count(n) { cudaMalloc(&data, n * sizeof(T)); }
    ~DeviceArray() { cudaFree(data); }
    DeviceArray(const DeviceArray&) = delete;
    DeviceArray& operator=(const DeviceArray&) = delete;
};

void readVector(const std::string& path, std::vector<float>& v) {
    std::ifstream f(path, std::ios::binary);
    if (!f.read(reinterpret_cast<char*>(v.data()), v.size() * sizeof(float)))
        throw std::runtime_error("cannot read " + path);
}

constexpr int kN = 20000;
constexpr int kTerms = 8;

__global__ void chebyshev(const float* x, const float* coef, const float* interval, float* value, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        float lo = interval[0], hi = interval[1];
        float t = (2.0f * x[i] - lo - hi) / (hi - lo);
        float b1 = 0.0f, b2 = 0.0f;
        for (int k = kTerms - 1; k > 0; --k) {
            float b = 2.0f * t * b1 - b2 + coef[k];
            b2 = b1;
            b1 = b;
        }
        value[i] = t * b1 - b2 + coef[0];
    }
}

int main() {
    try {
        std::vector<float> x(kN);
        std::vector<float> coef(kTerms);
        std::vector<float> interval(2);
        std::vector<float> value(kN);
        readVector("data/x.bin", x);
        readVector("data/coef.bin", coef);
        readVector("data/interval.bin", interval);

        DeviceArray<float> d_x(kN);
        DeviceArray<float> d_coef(kTerms);
        DeviceArray<float> d_interval(2);
        DeviceArray<float> d_value(kN);
        cudaMemcpy(d_x.data, x.data(), kN * sizeof(float), cudaMemcpyHostToDevice);
        cudaMemcpy(d_coef.data, coef.data(), kTerms * sizeof(float), cudaMemcpyHostToDevice);
        cudaMemcpy(d_interval.data, interval.data(), 2 * sizeof(float), cudaMemcpyHostToDevice);

        int block = 256;
        int grid = (kN + block - 1) / block;
        chebyshev<<<grid, block>>>(d_x.data, d_coef.data, d_interval.data, d_value.data, kN);
        if (cudaDeviceSynchronize() != cudaSuccess) throw std::runtime_error("kernel failed");
        cudaMemcpy(value.data(), d_value.data, kN * sizeof(float), cudaMemcpyDeviceToHost);
        std::ofstream out("data/value.bin", std::ios::binary);
        out.write(reinterpret_cast<const char*>(value.data()), kN * sizeof(float));
    } catch (const std::exception& e) {
        std::cerr << e.what() << std::endl;
        return 1;
    }
    return 0;
}
