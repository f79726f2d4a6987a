#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

constexpr unsigned kAll = 0xffffffffu;

__global__ void longest(const int* x, int cols, int* lengths) {
    extern __shared__ int tails[];
    const int lane = threadIdx.x;
    const int* row = x + static_cast<size_t>(blockIdx.x) * cols;
    int count = 0;  // of tails; the same in all lanes
    for (int first = 0; first < cols; first += 32) {
        const int own = first + lane < cols ? row[first + lane] : 0;
        const int here = min(32, cols - first);
        for (int k = 0; k < here; ++k) {
            const int v = __shfl_sync(kAll, own, k);
            int low = 0, high = count;  // the position lies in low..high
            while (high - low > 32) {
                const int span = high - low;
                const int probe = low + span * (lane + 1) / 33;
                const int smaller = __popc(__ballot_sync(kAll, tails[probe] < v));
                const int below = low + span * smaller / 33;  // the last probe that is smaller, or low itself
                const int above = low + span * (smaller + 1) / 33;
                low = smaller > 0 ? below + 1 : low;
                high = smaller < 32 ? above : high;
            }
            const bool isSmaller = low + lane < high && tails[low + lane] < v;
            const int place = low + __popc(__ballot_sync(kAll, isSmaller));
            if (lane == 0) tails[place] = v;
            count = max(count, place + 1);
            __syncwarp();
        }
    }
    if (lane == 0) lengths[blockIdx.x] = count;
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
        const int rows = sizes[0], cols = sizes[1];
        if (rows < 1 || rows > 65535 || cols < 1 || cols > 8192)
            throw std::runtime_error("data/sizes.bin: out of range");
        const DeviceArray<int> x = readToDevice<int>("data/x.bin", static_cast<size_t>(rows) * cols);
        const DeviceArray<int> lengths = allocate<int>(rows);
        longest<<<rows, 32, cols * sizeof(int)>>>(x.get(), cols, lengths.get());
        cudaGetLastError() >> "longest";
        writeAll("data/lengths.bin", lengths, rows);
    } catch (const std::exception& error) {
        std::fprintf(stderr, "%s\n", error.what());
        return 1;
    }
    return 0;
}
