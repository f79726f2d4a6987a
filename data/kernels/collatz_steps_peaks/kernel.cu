#include <cuda_runtime.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

__global__ void follow(const uint32_t* starts, int n, unsigned* next, int* steps, unsigned long long* peaks) {
    for (unsigned i = atomicAdd(next, 1u); i < static_cast<unsigned>(n); i = atomicAdd(next, 1u)) {
        unsigned long long value = starts[i], peak = value;
        int zeros = __ffsll(static_cast<long long>(value)) - 1, count = zeros;
        value >>= zeros;
        while (value != 1) {
            value = 3 * value + 1;
            peak = max(peak, value);
            zeros = __ffsll(static_cast<long long>(value)) - 1;
            value >>= zeros;
            count += 1 + zeros;
        }
        steps[i] = count;
        peaks[i] = peak;
    }
}

struct CudaError : std::runtime_error {
    explicit CudaError(cudaError_t status) : std::runtime_error(cudaGetErrorString(status)) {}
};

inline void operator>>(cudaError_t status, const char* step) {
    if (status == cudaSuccess) return;
    std::fprintf(stderr, "%s: ", step);
    throw CudaError(status);
}

struct DeviceFree {
    void operator()(void* pointer) const { cudaFree(pointer); }
};
template <typename T>
using DeviceArray = std::unique_ptr<T[], DeviceFree>;

template <typename T>
DeviceArray<T> allocate(size_t count) {
    void* pointer = nullptr;
    cudaMalloc(&pointer, count * sizeof(T)) >> "cudaMalloc";
    return DeviceArray<T>(static_cast<T*>(pointer));
}

template <typename T>
std::vector<T> readAll(const std::filesystem::path& path, size_t count) {
    std::error_code error;
    if (std::filesystem::file_size(path, error) != count * sizeof(T) || error)
        throw std::runtime_error(path.string() + ": expected " + std::to_string(count * sizeof(T)) + " bytes");
    std::vector<T> values(count);
    std::ifstream(path, std::ios::binary).read(reinterpret_cast<char*>(values.data()), count * sizeof(T));
    return values;
}

template <typename T>
DeviceArray<T> readToDevice(const std::filesystem::path& path, size_t count) {
    const std::vector<T> host = readAll<T>(path, count);
    DeviceArray<T> device = allocate<T>(count);
    cudaMemcpy(device.get(), host.data(), count * sizeof(T), cudaMemcpyHostToDevice) >> "copy to the device";
    return device;
}

template <typename T>
void writeAll(const std::filesystem::path& path, const DeviceArray<T>& device, size_t count) {
    std::vector<T> host(count);
    cudaMemcpy(host.data(), device.get(), count * sizeof(T), cudaMemcpyDeviceToHost) >> "copy to the host";
    std::ofstream file(path, std::ios::binary);
    if (!file.write(reinterpret_cast<const char*>(host.data()), count * sizeof(T)) || !file.flush())
        throw std::runtime_error(path.string() + ": cannot be written");
}

int main() {
    try {
        const int n = readAll<int>("data/sizes.bin", 1)[0];
        if (n < 1 || n > 16777216) throw std::runtime_error("data/sizes.bin: n is out of range");
        for (uint32_t start : readAll<uint32_t>("data/starts.bin", n)) {
            if (start < 1 || start > 2147483647u) throw std::runtime_error("data/starts.bin: a start is out of range");
        }
        const auto starts = readToDevice<uint32_t>("data/starts.bin", n);
        const auto next = allocate<unsigned>(1);
        const auto steps = allocate<int>(n);
        const auto peaks = allocate<unsigned long long>(n);
        cudaMemset(next.get(), 0, sizeof(unsigned)) >> "cudaMemset";
        int multiprocessors = 0;
        cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, 0) >> "cudaDeviceGetAttribute";
        const int blocks = std::min(16 * multiprocessors, (n + 127) / 128);
        follow<<<blocks, 128>>>(starts.get(), n, next.get(), steps.get(), peaks.get());
        cudaGetLastError() >> "follow";
        writeAll("data/steps.bin", steps, n);
        writeAll("data/peaks.bin", peaks, n);
    } catch (const std::exception& error) {
        std::fprintf(stderr, "%s\n", error.what());
        return 1;
    }
    return 0;
}
