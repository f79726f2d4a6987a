#include <cuda_runtime.h>

#include <fstream>
#include <iostream>
#include <stdexcept>
#include <string>
#include <vector>

__global__ void smooth(const float* returns, const float* decays, float* volatility, int series, int days) {
    const int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= series) return;
    const double decay = decays[row];
    const size_t start = static_cast<size_t>(row) * days;
    double variance = 0.0;
    for (int day = 0; day < days; ++day) {
        const double r = returns[start + day];
        variance = day == 0 ? r * r : decay * variance + (1.0 - decay) * r * r;
        volatility[start + day] = static_cast<float>(sqrt(252.0 * variance));
    }
}

struct DeviceFloats {
    float* pointer = nullptr;
    explicit DeviceFloats(size_t count) { check(cudaMalloc(&pointer, count * sizeof(float))); }
    ~DeviceFloats() { cudaFree(pointer); }
    DeviceFloats(const DeviceFloats&) = delete;
    DeviceFloats& operator=(const DeviceFloats&) = delete;
    static void check(cudaError_t status) {
        if (status != cudaSuccess) throw std::runtime_error(cudaGetErrorString(status));
    }
    void set(const std::vector<float>& values) {
        check(cudaMemcpy(pointer, values.data(), values.size() * sizeof(float), cudaMemcpyHostToDevice));
    }
    std::vector<float> get(size_t count) const {
        std::vector<float> values(count);
        check(cudaMemcpy(values.data(), pointer, count * sizeof(float), cudaMemcpyDeviceToHost));
        return values;
    }
};

template <typename T>
static std::vector<T> readValues(const std::string& path, size_t count) {
    std::ifstream stream(path, std::ios::binary);
    std::vector<T> values(count);
    if (!stream.read(reinterpret_cast<char*>(values.data()), count * sizeof(T)) || stream.get() != EOF) {
        throw std::runtime_error(path + ": expected " + std::to_string(count) + " values");
    }
    return values;
}

int main() {
    try {
        const std::vector<int> sizes = readValues<int>("data/sizes.bin", 2);
        const int series = sizes[0], days = sizes[1];
        if (series < 1 || series > 200000 || days < 1 || days > 4096) throw std::runtime_error("sizes out of range");
        const size_t count = static_cast<size_t>(series) * days;
        DeviceFloats returns(count), decay(series), volatility(count);
        returns.set(readValues<float>("data/returns.bin", count));
        decay.set(readValues<float>("data/decay.bin", series));
        smooth<<<(series + 127) / 128, 128>>>(returns.pointer, decay.pointer, volatility.pointer, series, days);
        DeviceFloats::check(cudaGetLastError());
        const std::vector<float> result = volatility.get(count);
        std::ofstream out("data/volatility.bin", std::ios::binary);
        out.write(reinterpret_cast<const char*>(result.data()), count * sizeof(float));
        if (!out.flush()) throw std::runtime_error("data/volatility.bin: cannot be written");
    } catch (const std::exception& error) {
        std::cerr << error.what() << '\n';
        return 1;
    }
    return 0;
}
