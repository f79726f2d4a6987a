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

__device__ uint32_t oddPart(uint32_t v) { return v >> (__ffs(v) - 1); }

__device__ uint32_t greatest(uint32_t a, uint32_t b) {
    if (a == 0 || b == 0) return a | b;
    const int shared = __ffs(a | b) - 1;
    a = oddPart(a);
    b = oddPart(b);
    while (a != b) {
        const uint32_t larger = max(a, b), smaller = min(a, b);
        a = oddPart(larger - smaller);
        b = smaller;
    }
    return a << shared;
}

__global__ void divisors(const uint2* pairs, uint32_t* gcd, uint64_t* lcm, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        const uint2 pair = pairs[i];
        const uint32_t divisor = greatest(pair.x, pair.y);
        gcd[i] = divisor;
        lcm[i] = divisor > 0 ? static_cast<uint64_t>(pair.x / divisor) * pair.y : 0;
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
        const DeviceArray<uint2> pairs = readToDevice<uint2>("data/pairs.bin", n);
        const DeviceArray<uint32_t> gcd = allocate<uint32_t>(n);
        const DeviceArray<uint64_t> lcm = allocate<uint64_t>(n);
        divisors<<<std::min(8192, (n + 255) / 256), 256>>>(pairs.get(), gcd.get(), lcm.get(), n);
        cudaGetLastError() >> "divisors";
        writeAll("data/gcd.bin", gcd, n);
        writeAll("data/lcm.bin", lcm, n);
    } catch (const std::exception& error) {
        std::fprintf(stderr, "%s\n", error.what());
        return 1;
    }
    return 0;
}
