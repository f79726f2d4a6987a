#include <cuda_runtime.h>

#include <cstdint>
#include <fstream>
#include <iostream>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

using Key = unsigned long long;
constexpr int kMaxPoints = 1 << 20, kMaxSide = 4096, kThreads = 256;
constexpr Key kEmpty = ~Key{0};

struct Camera {
    int fx, fy, cx, cy;
};
__constant__ Camera camera;

__device__ long long floorDivide(long long a, int b) {
    const long long quotient = a / b;
    return a % b < 0 ? quotient - 1 : quotient;
}

__global__ void splat(const int* __restrict__ points, Key* keys, int n, int height, int width) {
    const int i = blockIdx.x * kThreads + threadIdx.x;
    if (i >= n) return;
    const int z = points[3 * i + 2];
    if (z <= 0) return;
    const long long u = floorDivide(static_cast<long long>(camera.fx) * points[3 * i], z) + camera.cx;
    const long long v = floorDivide(static_cast<long long>(camera.fy) * points[3 * i + 1], z) + camera.cy;
    if (u < 0 || u >= width || v < 0 || v >= height) return;
    const Key key = static_cast<Key>(z) << 32 | static_cast<unsigned>(i);
    Key* pixel = &keys[v * width + u];
    if (key < *pixel) atomicMin(pixel, key);  // keys only fall, so a stale read costs an atomic, never a point
}

__global__ void unpack(const Key* __restrict__ keys, int* __restrict__ depth, int* __restrict__ index, int pixels) {
    const int p = blockIdx.x * kThreads + threadIdx.x;
    if (p >= pixels) return;
    const Key key = keys[p];
    depth[p] = key == kEmpty ? 0 : static_cast<int>(key >> 32);
    index[p] = key == kEmpty ? -1 : static_cast<int>(key & 0xFFFFFFFFu);
}

void verify(cudaError_t status) {
    if (status != cudaSuccess) throw std::runtime_error(cudaGetErrorString(status));
}

struct Release {
    void operator()(void* pointer) const { cudaFree(pointer); }
};
template <typename T>
using Buffer = std::unique_ptr<T[], Release>;

template <typename T>
Buffer<T> makeBuffer(size_t count) {
    T* pointer = nullptr;
    verify(cudaMalloc(&pointer, count * sizeof(T)));
    return Buffer<T>(pointer);
}

void readFile(const std::string& path, void* data, size_t bytes) {
    std::ifstream in(path, std::ios::binary);
    if (!in.read(static_cast<char*>(data), bytes) || in.peek() != EOF) {
        throw std::runtime_error(path + ": expected " + std::to_string(bytes) + " bytes");
    }
}

void writeImage(const std::string& path, const int* device, size_t pixels) {
    std::vector<int> image(pixels);
    verify(cudaMemcpy(image.data(), device, pixels * sizeof(int), cudaMemcpyDeviceToHost));
    std::ofstream out(path, std::ios::binary);
    out.write(reinterpret_cast<const char*>(image.data()), pixels * sizeof(int));
    out.close();
    if (!out) throw std::runtime_error(path + ": cannot be written");
}

void render() {
    int sizes[3];
    readFile("data/sizes.bin", sizes, sizeof sizes);
    const int n = sizes[0], height = sizes[1], width = sizes[2];
    if (n < 1 || n > kMaxPoints || height < 1 || height > kMaxSide || width < 1 || width > kMaxSide) {
        throw std::runtime_error("data/sizes.bin: out of range");
    }
    Camera host;
    readFile("data/camera.bin", &host, sizeof host);
    std::vector<int> points(3 * n);
    readFile("data/points.bin", points.data(), points.size() * sizeof(int));

    const int pixels = height * width;
    const auto dPoints = makeBuffer<int>(points.size());
    const auto keys = makeBuffer<Key>(pixels);
    const auto depth = makeBuffer<int>(pixels), index = makeBuffer<int>(pixels);
    verify(cudaMemcpyToSymbol(camera, &host, sizeof host));
    verify(cudaMemcpy(dPoints.get(), points.data(), points.size() * sizeof(int), cudaMemcpyHostToDevice));
    verify(cudaMemset(keys.get(), 0xFF, pixels * sizeof(Key)));
    splat<<<(n + kThreads - 1) / kThreads, kThreads>>>(dPoints.get(), keys.get(), n, height, width);
    verify(cudaGetLastError());
    unpack<<<(pixels + kThreads - 1) / kThreads, kThreads>>>(keys.get(), depth.get(), index.get(), pixels);
    verify(cudaGetLastError());
    writeImage("data/depth.bin", depth.get(), pixels);
    writeImage("data/index.bin", index.get(), pixels);
}

int main() {
    try {
        render();
    } catch (const std::exception& error) {
        std::cerr << "integer_depth_splat: " << error.what() << std::endl;
        return 1;
    }
    return 0;
}
