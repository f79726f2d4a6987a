#include <cuda_runtime.h>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

constexpr int ASSETS = 30;
constexpr int DAYS = 250;

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
void readFile(const std::string& path, std::vector<T>& v) {
    std::ifstream in(path, std::ios::binary);
    if (!in.read(reinterpret_cast<char*>(v.data()), v.size() * sizeof(T)))
        throw std::runtime_error("cannot read " + path);
}

__global__ void fast_line(const float* high, const float* low, const float* close, float* percent_k) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= ASSETS * DAYS) return;
    int back = min(i % DAYS, 13);
    float top = high[i];
    float bottom = low[i];
    for (int d = 1; d <= back; d++) {
        top = fmaxf(top, high[i - d]);
        bottom = fminf(bottom, low[i - d]);
    }
    percent_k[i] = top == bottom ? 50.0f : 100.0f * (close[i] - bottom) / (top - bottom);
}

__global__ void slow_line(const float* percent_k, float* percent_d) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= ASSETS * DAYS) return;
    int back = min(i % DAYS, 2);
    float sum = 0.0f;
    for (int d = 0; d <= back; d++) sum += percent_k[i - d];
    percent_d[i] = sum / (back + 1);
}

int main() {
    const size_t len = (size_t)ASSETS * DAYS;
    std::vector<float> high(len);
    std::vector<float> low(len);
    std::vector<float> close(len);
    std::vector<float> percent_k(len);
    std::vector<float> percent_d(len);
    readFile("data/high.bin", high);
    readFile("data/low.bin", low);
    readFile("data/close.bin", close);

    DeviceArray<float> d_high(len);
    DeviceArray<float> d_low(len);
    DeviceArray<float> d_close(len);
    DeviceArray<float> d_percent_k(len);
    DeviceArray<float> d_percent_d(len);
    cudaMemcpy(d_high.p, high.data(), len * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_low.p, low.data(), len * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_close.p, close.data(), len * sizeof(float), cudaMemcpyHostToDevice);

    int blocks = (ASSETS * DAYS + 255) / 256;
    fast_line<<<blocks, 256>>>(d_high.p, d_low.p, d_close.p, d_percent_k.p);
    slow_line<<<blocks, 256>>>(d_percent_k.p, d_percent_d.p);
    cudaError_t err = cudaDeviceSynchronize();
    if (err != cudaSuccess) throw std::runtime_error(cudaGetErrorString(err));

    cudaMemcpy(percent_k.data(), d_percent_k.p, len * sizeof(float), cudaMemcpyDeviceToHost);
    std::ofstream("data/percent_k.bin", std::ios::binary).write(reinterpret_cast<const char*>(percent_k.data()),
        len * sizeof(float));
    cudaMemcpy(percent_d.data(), d_percent_d.p, len * sizeof(float), cudaMemcpyDeviceToHost);
    std::ofstream("data/percent_d.bin", std::ios::binary).write(reinterpret_cast<const char*>(percent_d.data()),
        len * sizeof(float));
    return 0;
}
