#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

constexpr int kThreads = 128, kWords = 128;

__global__ void multiply(const uint32_t* a, const uint32_t* b, uint32_t* product, int words) {
    __shared__ uint32_t x[kWords], y[kWords], over[2 * kWords], result[2 * kWords];
    __shared__ uint64_t low[2 * kWords];
    const size_t first = static_cast<size_t>(blockIdx.x) * words;
    for (int i = threadIdx.x; i < words; i += kThreads) {
        x[i] = a[first + i];
        y[i] = b[first + i];
    }
    __syncthreads();
    for (int k = threadIdx.x; k < 2 * words; k += kThreads) {
        uint64_t sum = 0;
        uint32_t overflows = 0;
        for (int i = max(0, k - words + 1); i <= min(k, words - 1); ++i) {
            const uint64_t term = static_cast<uint64_t>(x[i]) * y[k - i];
            sum += term;
            overflows += sum < term;
        }
        low[k] = sum;
        over[k] = overflows;
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        uint64_t carry = 0;
        for (int k = 0; k < 2 * words; ++k) {
            const uint64_t sum = low[k] + carry;
            const uint64_t wrapped = over[k] + static_cast<uint64_t>(sum < carry);
            result[k] = static_cast<uint32_t>(sum);
            carry = (sum >> 32) + (wrapped << 32);
        }
    }
    __syncthreads();
    for (int k = threadIdx.x; k < 2 * words; k += kThreads) product[2 * first + k] = result[k];
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
        const std::vector<int> sizes = readAll<int>("data/sizes.bin", 2);
        const int pairs = sizes[0], words = sizes[1];
        if (pairs < 1 || pairs > 1048576 || words < 1 || words > kWords)
            throw std::runtime_error("data/sizes.bin: out of range");
        const size_t count = static_cast<size_t>(pairs) * words;
        const auto a = readToDevice<uint32_t>("data/a.bin", count), b = readToDevice<uint32_t>("data/b.bin", count);
        const auto product = allocate<uint32_t>(2 * count);
        multiply<<<pairs, kThreads>>>(a.get(), b.get(), product.get(), words);
        cudaGetLastError() >> "multiply";
        writeAll("data/product.bin", product, 2 * count);
    } catch (const std::exception& error) {
        std::fprintf(stderr, "%s\n", error.what());
        return 1;
    }
    return 0;
}
