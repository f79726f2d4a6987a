#include <fstream>
#include <iostream>
#include <stdexcept>
#include <string>
#include <vector>
#include <cuda_runtime.h>

constexpr int kStations = 24;
constexpr int kHours = 500;
constexpr int kTotal = kStations * kHours;

template <typename T>
struct DevMem {
    T* data = nullptr;
    explicit DevMem(size_t n) {
        if (cudaMalloc(&data, n * sizeof(T)) != cudaSuccess) throw std::runtime_error("cudaMalloc failed");
    }
    ~DevMem() { cudaFree(data); }
    DevMem(const DevMem&) = delete;
    DevMem& operator=(const DevMem&) = delete;
    void copy_from(const std::vector<T>& v) { cudaMemcpy(data, v.data(), v.size() * sizeof(T),
            cudaMemcpyHostToDevice); }
    void copy_to(std::vector<T>& v) { cudaMemcpy(v.data(), data, v.size() * sizeof(T), cudaMemcpyDeviceToHost); }
};

void readVector(const std::string& path, std::vector<float>& v) {
    std::ifstream f(path, std::ios::binary);
    if (!f.read(reinterpret_cast<char*>(v.data()), v.size() * sizeof(float)))
        throw std::runtime_error("cannot read " + path);
}

__global__ void dew_point(const float* temp, const float* humidity, const float* offset, float* dew,
        float* spread, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        float t = temp[i] + offset[i / kHours];
        float h = fminf(fmaxf(humidity[i], 1.0f), 100.0f);
        float g = logf(h / 100.0f) + 17.62f * t / (243.12f + t);
        float d = 243.12f * g / (17.62f - g);
        dew[i] = d;
        spread[i] = t - d;
    }
}

int main() {
    try {
        std::vector<float> temp(kTotal);
        std::vector<float> humidity(kTotal);
        std::vector<float> offset(kStations);
        std::vector<float> dew(kTotal);
        std::vector<float> spread(kTotal);
        readVector("data/temp.bin", temp);
        readVector("data/humidity.bin", humidity);
        readVector("data/offset.bin", offset);

        DevMem<float> d_temp(kTotal);
        DevMem<float> d_humidity(kTotal);
        DevMem<float> d_offset(kStations);
        DevMem<float> d_dew(kTotal);
        DevMem<float> d_spread(kTotal);
        d_temp.copy_from(temp);
        d_humidity.copy_from(humidity);
        d_offset.copy_from(offset);

        int block = 256;
        dew_point<<<(kTotal + block - 1) / block, block>>>(d_temp.data, d_humidity.data, d_offset.data,
                d_dew.data, d_spread.data, kTotal);
        if (cudaDeviceSynchronize() != cudaSuccess) throw std::runtime_error("kernel failed");

        d_dew.copy_to(dew);
        d_spread.copy_to(spread);
        std::ofstream out_dew("data/dew.bin", std::ios::binary);
        out_dew.write(reinterpret_cast<const char*>(dew.data()), kTotal * sizeof(float));
        std::ofstream out_spread("data/spread.bin", std::ios::binary);
        out_spread.write(reinterpret_cast<const char*>(spread.data()), kTotal * sizeof(float));
    } catch (const std::exception& e) {
        std::cerr << e.what() << std::endl;
        return 1;
    }
    return 0;
}
