#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

// A thread per pair; row j of the table lies at rows[j * pairs + pair].
__global__ void lcsLengths(const uint8_t* a, const uint8_t* b, int* rows, int* lcs, int pairs, int n, int m) {
    const int pair = blockIdx.x * blockDim.x + threadIdx.x;
    if (pair >= pairs) return;
    int* row = rows + pair;
    for (int j = 0; j <= m; ++j) row[static_cast<size_t>(j) * pairs] = 0;
    for (int i = 0; i < n; ++i) {
        const uint8_t letter = a[static_cast<size_t>(pair) * n + i];
        int diagonal = 0, left = 0;
        for (int j = 1; j <= m; ++j) {
            const int above = row[static_cast<size_t>(j) * pairs];
            const bool same = letter == b[static_cast<size_t>(pair) * m + j - 1];
            left = same ? diagonal + 1 : max(above, left);
            row[static_cast<size_t>(j) * pairs] = left;
            diagonal = above;
        }
    }
    lcs[pair] = row[static_cast<size_t>(m) * pairs];
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
        const std::vector<int> sizes = readAll<int>("data/sizes.bin", 3);
        const int pairs = sizes[0], n = sizes[1], m = sizes[2];
        if (pairs < 1 || pairs > 65535 || n < 1 || n > 1024 || m < 1 || m > 1024)
            throw std::runtime_error("data/sizes.bin: out of range");
        const auto a = readToDevice<uint8_t>("data/a.bin", static_cast<size_t>(pairs) * n);
        const auto b = readToDevice<uint8_t>("data/b.bin", static_cast<size_t>(pairs) * m);
        const auto rows = allocate<int>(static_cast<size_t>(pairs) * (m + 1)), lcs = allocate<int>(pairs);
        lcsLengths<<<(pairs + 63) / 64, 64>>>(a.get(), b.get(), rows.get(), lcs.get(), pairs, n, m);
        cudaGetLastError() >> "lcsLengths";
        writeAll("data/lcs.bin", lcs, pairs);
    } catch (const std::exception& error) {
        std::fprintf(stderr, "%s\n", error.what());
        return 1;
    }
    return 0;
}
