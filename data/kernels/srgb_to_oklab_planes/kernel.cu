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

__global__ void toOklab(const uint8_t* __restrict__ image, float* __restrict__ lab, int pixels) {
    __shared__ float linear[256];
    const float code = threadIdx.x / 255.0f;
    linear[threadIdx.x] = code <= 0.04045f ? code / 12.92f : powf((code + 0.055f) / 1.055f, 2.4f);
    __syncthreads();

    float *plane_l = lab, *plane_a = lab + pixels, *plane_b = lab + 2 * static_cast<size_t>(pixels);
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < pixels; i += gridDim.x * blockDim.x) {
        const uint8_t* rgb = image + 3 * static_cast<size_t>(i);
        const float r = linear[rgb[0]], g = linear[rgb[1]], b = linear[rgb[2]];
        const float l = cbrtf(0.4122214708f * r + 0.5363325363f * g + 0.0514459929f * b);
        const float m = cbrtf(0.2119034982f * r + 0.6806995451f * g + 0.1073969566f * b);
        const float s = cbrtf(0.0883024619f * r + 0.2817188376f * g + 0.6299787005f * b);
        plane_l[i] = 0.2104542553f * l + 0.7936177850f * m - 0.0040720468f * s;
        plane_a[i] = 1.9779984951f * l - 2.4285922050f * m + 0.4505937099f * s;
        plane_b[i] = 0.0259040371f * l + 0.7827717662f * m - 0.8086757660f * s;
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
        const int pixels = readAll<int>("data/sizes.bin", 1)[0];
        if (pixels < 1 || pixels > 16777216) throw std::runtime_error("data/sizes.bin: pixels is out of range");
        const size_t values = 3 * static_cast<size_t>(pixels);
        const DeviceArray<uint8_t> image = readToDevice<uint8_t>("data/image.bin", values);
        const DeviceArray<float> lab = allocate<float>(values);
        toOklab<<<std::min(1024, (pixels + 255) / 256), 256>>>(image.get(), lab.get(), pixels);
        cudaGetLastError() >> "toOklab";
        writeAll("data/lab.bin", lab, values);
    } catch (const std::exception& error) {
        std::fprintf(stderr, "%s\n", error.what());
        return 1;
    }
    return 0;
}
