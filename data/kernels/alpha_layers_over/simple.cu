#include <cuda_runtime.h>

#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>

__global__ void over(const uint8_t* layer, float* composite, int pixels) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= pixels) return;
    const float alpha = layer[4 * i + 3] / 255.0f;
    for (int c = 0; c < 4; ++c) {
        const float colour = c < 3 ? layer[4 * i + c] / 255.0f : 1.0f;
        composite[4 * i + c] = alpha * colour + (1.0f - alpha) * composite[4 * i + c];
    }
}

[[noreturn]] static void fail(const std::string& message) {
    std::cerr << message << '\n';
    std::exit(1);
}

static void checked(cudaError_t status, const char* step) {
    if (status != cudaSuccess) fail(std::string(step) + ": " + cudaGetErrorString(status));
}

// Memory that host and device see; the process's end frees it.
template <typename T>
static T* managed(size_t count) {
    T* data = nullptr;
    checked(cudaMallocManaged(&data, count * sizeof(T)), "cudaMallocManaged");
    return data;
}

template <typename T>
static T* fromFile(const char* path, size_t count) {
    T* data = managed<T>(count);
    std::ifstream in(path, std::ios::binary);
    in.read(reinterpret_cast<char*>(data), count * sizeof(T));
    if (!in || in.get() != EOF) fail(std::string(path) + ": missing, too short or too long");
    return data;
}

template <typename T>
static void toFile(const char* path, const T* data, size_t count) {
    std::ofstream out(path, std::ios::binary);
    out.write(reinterpret_cast<const char*>(data), count * sizeof(T));
    out.close();
    if (!out) fail(std::string(path) + ": cannot be written");
}

int main() {
    const int* sizes = fromFile<int>("data/sizes.bin", 2);
    const int layers = sizes[0], pixels = sizes[1];
    if (layers < 1 || layers > 256 || pixels < 1 || pixels > 4194304) fail("data/sizes.bin: out of range");
    const size_t bytes = 4 * static_cast<size_t>(pixels);
    const uint8_t* rgba = fromFile<uint8_t>("data/rgba.bin", layers * bytes);
    float* composite = managed<float>(bytes);
    checked(cudaMemset(composite, 0, bytes * sizeof(float)), "cudaMemset");
    for (int layer = 0; layer < layers; ++layer)
        over<<<(pixels + 255) / 256, 256>>>(rgba + layer * bytes, composite, pixels);
    checked(cudaGetLastError(), "launch");
    checked(cudaDeviceSynchronize(), "over");
    toFile("data/composite.bin", composite, bytes);
    return 0;
}
