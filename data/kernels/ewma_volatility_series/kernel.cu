#include <cuda_runtime.h>

#include <fstream>
#include <iostream>
#include <stdexcept>
#include <string>
#include <vector>

constexpr int WARP = 32, WARPS = 4;
constexpr unsigned ALL = 0xffffffffu;

// Each lane holds the map v -> factor * v + offset of its day; the scan leaves the map of all days up to its own.
__global__ void smooth(const float* __restrict__ returns, const float* __restrict__ decays,
                       float* __restrict__ volatility, int series, int days) {
    const int lane = threadIdx.x % WARP, row = blockIdx.x * WARPS + threadIdx.x / WARP;
    if (row >= series) return;
    const double decay = decays[row];
    const size_t start = static_cast<size_t>(row) * days;
    double carried = 0.0;
    for (int first = 0; first < days; first += WARP) {
        const int day = first + lane;
        double factor = 1.0, offset = 0.0;  // lanes behind the end change nothing
        if (day < days) {
            const double r = returns[start + day];
            factor = day == 0 ? 0.0 : decay;
            offset = day == 0 ? r * r : (1.0 - decay) * r * r;
        }
        for (int step = 1; step < WARP; step *= 2) {
            const double earlierFactor = __shfl_up_sync(ALL, factor, step);
            const double earlierOffset = __shfl_up_sync(ALL, offset, step);
            if (lane >= step) {
                offset += factor * earlierOffset;
                factor *= earlierFactor;
            }
        }
        const double variance = factor * carried + offset;
        if (day < days) volatility[start + day] = static_cast<float>(sqrt(252.0 * variance));
        carried = __shfl_sync(ALL, variance, WARP - 1);
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
        smooth<<<(series + WARPS - 1) / WARPS, WARPS * WARP>>>(returns.pointer, decay.pointer, volatility.pointer,
                                                               series, days);
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
