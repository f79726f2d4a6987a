#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

constexpr int kThreads = 128, kSamples = 64;

__global__ void evaluate(const float* control, float* points, float* area, int samples) {
    __shared__ float p[16][3], basis[kSamples][4], slope[kSamples][4];
    const int t = threadIdx.x;
    if (t < 48) p[t / 3][t % 3] = control[48 * static_cast<size_t>(blockIdx.x) + t];
    if (t < samples) {
        const float u = static_cast<float>(t) / (samples - 1), w = 1.0f - u;
        basis[t][0] = w * w * w;
        basis[t][1] = 3.0f * w * w * u;
        basis[t][2] = 3.0f * w * u * u;
        basis[t][3] = u * u * u;
        slope[t][0] = -3.0f * w * w;
        slope[t][1] = 3.0f * w * w - 6.0f * w * u;
        slope[t][2] = 6.0f * w * u - 3.0f * u * u;
        slope[t][3] = 3.0f * u * u;
    }
    __syncthreads();

    const size_t first = static_cast<size_t>(blockIdx.x) * samples * samples;
    for (int place = t; place < samples * samples; place += kThreads) {
        const int a = place / samples, b = place % samples;
        float at[3] = {}, du[3] = {}, dv[3] = {};
        for (int k = 0; k < 16; ++k) {
            const float value = basis[a][k / 4] * basis[b][k % 4];
            const float byU = slope[a][k / 4] * basis[b][k % 4], byV = basis[a][k / 4] * slope[b][k % 4];
#pragma unroll
            for (int c = 0; c < 3; ++c) {
                at[c] += value * p[k][c];
                du[c] += byU * p[k][c];
                dv[c] += byV * p[k][c];
            }
        }
        for (int c = 0; c < 3; ++c) points[3 * (first + place) + c] = at[c];
        const float x = du[1] * dv[2] - du[2] * dv[1], y = du[2] * dv[0] - du[0] * dv[2];
        const float z = du[0] * dv[1] - du[1] * dv[0];
        area[first + place] = sqrtf(x * x + y * y + z * z);
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
        const std::vector<int> sizes = readAll<int>("data/sizes.bin", 2);
        const int patches = sizes[0], samples = sizes[1];
        if (patches < 1 || patches > 65535 || samples < 2 || samples > kSamples)
            throw std::runtime_error("data/sizes.bin: out of range");
        const size_t places = static_cast<size_t>(patches) * samples * samples;
        const auto control = readToDevice<float>("data/control.bin", 48 * static_cast<size_t>(patches));
        const auto points = allocate<float>(3 * places), area = allocate<float>(places);
        evaluate<<<patches, kThreads>>>(control.get(), points.get(), area.get(), samples);
        cudaGetLastError() >> "evaluate";
        writeAll("data/points.bin", points, 3 * places);
        writeAll("data/area.bin", area, places);
    } catch (const std::exception& error) {
        std::fprintf(stderr, "%s\n", error.what());
        return 1;
    }
    return 0;
}
