#include <cuda_runtime.h>

#include <cstdint>
#include <fstream>
#include <iostream>
#include <stdexcept>
#include <string>
#include <vector>

constexpr int kMaxFrames = 64;

struct Sizes {
    int nx, ny, nz, frames, height, width;
};

struct Camera {
    int fx, fy, cx, cy, step, trunc, cap;
};

__constant__ int3 cOrigins[kMaxFrames];

// floor(a / b) for b > 0
__device__ __forceinline__ int floorDiv(int a, int b) {
    const int q = a / b;
    return q - (a % b < 0);
}

__global__ void __launch_bounds__(256)
    integrate(const uint16_t* __restrict__ depth, int16_t* __restrict__ distance, uint8_t* __restrict__ weight,
              Sizes size, Camera camera) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= size.nx || y >= size.ny) return;
    for (int k = 0; k < size.nz; ++k) {
        const size_t voxel = (static_cast<size_t>(k) * size.ny + y) * size.nx + x;
        int d = distance[voxel], w = weight[voxel];
        for (int f = 0; f < size.frames; ++f) {
            const int z = cOrigins[f].z + camera.step * k;
            if (z <= 0) continue;
            const int u = floorDiv(2 * camera.fx * (cOrigins[f].x + camera.step * x) + z, 2 * z) + camera.cx;
            const int v = floorDiv(2 * camera.fy * (cOrigins[f].y + camera.step * y) + z, 2 * z) + camera.cy;
            if (u < 0 || u >= size.width || v < 0 || v >= size.height) continue;
            const int seen = depth[(static_cast<size_t>(f) * size.height + v) * size.width + u];
            const int inFront = min(seen - z, camera.trunc);
            if (seen == 0 || inFront < -camera.trunc) continue;
            d = floorDiv(d * w + 16 * inFront, w + 1);
            w = min(w + 1, camera.cap);
        }
        distance[voxel] = static_cast<int16_t>(d);
        weight[voxel] = static_cast<uint8_t>(w);
    }
}

void check(cudaError_t status, const char* step) {
    if (status != cudaSuccess) throw std::runtime_error(std::string(step) + ": " + cudaGetErrorString(status));
}

template <typename T>
std::vector<T> readFile(const std::string& path, size_t count) {
    std::ifstream in(path, std::ios::binary | std::ios::ate);
    if (!in || static_cast<size_t>(in.tellg()) != count * sizeof(T)) throw std::runtime_error(path + ": wrong size");
    std::vector<T> values(count);
    in.seekg(0).read(reinterpret_cast<char*>(values.data()), count * sizeof(T));
    return values;
}

template <typename T>
void writeFile(const std::string& path, const std::vector<T>& values) {
    std::ofstream out(path, std::ios::binary);
    out.write(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T));
    out.close();
    if (!out) throw std::runtime_error(path + ": cannot be written");
}

template <typename T>
struct DeviceVector {
    T* data = nullptr;
    explicit DeviceVector(const std::vector<T>& host) {
        check(cudaMalloc(&data, host.size() * sizeof(T)), "cudaMalloc");
        check(cudaMemcpy(data, host.data(), host.size() * sizeof(T), cudaMemcpyHostToDevice), "upload");
    }
    DeviceVector(const DeviceVector&) = delete;
    ~DeviceVector() { cudaFree(data); }
    void into(std::vector<T>& host) const {
        check(cudaMemcpy(host.data(), data, host.size() * sizeof(T), cudaMemcpyDeviceToHost), "download");
    }
};

bool within(int value, int low, int high) { return value >= low && value <= high; }

void run() {
    const Sizes s = readFile<Sizes>("data/sizes.bin", 1)[0];
    const bool grid = within(s.nx, 1, 256) && within(s.ny, 1, 256) && within(s.nz, 1, 256);
    if (!grid || !within(s.frames, 1, kMaxFrames) || !within(s.height, 1, 1024) || !within(s.width, 1, 1024)) {
        throw std::runtime_error("data/sizes.bin: out of range");
    }
    const Camera c = readFile<Camera>("data/camera.bin", 1)[0];
    const bool lens = within(c.fx, 1, 4096) && within(c.fy, 1, 4096) && within(c.cx, 0, 1023) && within(c.cy, 0, 1023);
    if (!lens || !within(c.step, 1, 100) || !within(c.trunc, 1, 2047) || !within(c.cap, 1, 255)) {
        throw std::runtime_error("data/camera.bin: out of range");
    }
    const auto origins = readFile<int3>("data/origins.bin", s.frames);
    for (const int3& origin : origins) {
        for (int part : {origin.x, origin.y, origin.z}) {
            if (!within(part, -100000, 100000)) throw std::runtime_error("data/origins.bin: out of range");
        }
    }
    const size_t voxels = static_cast<size_t>(s.nx) * s.ny * s.nz;
    const size_t pixels = static_cast<size_t>(s.frames) * s.height * s.width;
    auto distance = readFile<int16_t>("data/distance.bin", voxels);
    auto weight = readFile<uint8_t>("data/weight.bin", voxels);
    const DeviceVector<uint16_t> dDepth(readFile<uint16_t>("data/depth.bin", pixels));
    const DeviceVector<int16_t> dDistance(distance);
    const DeviceVector<uint8_t> dWeight(weight);
    check(cudaMemcpyToSymbol(cOrigins, origins.data(), origins.size() * sizeof(int3)), "origins");

    const dim3 block(32, 8), blocks((s.nx + 31) / 32, (s.ny + 7) / 8);
    integrate<<<blocks, block>>>(dDepth.data, dDistance.data, dWeight.data, s, c);
    check(cudaGetLastError(), "launch");
    dDistance.into(distance);
    dWeight.into(weight);
    writeFile("data/new_distance.bin", distance);
    writeFile("data/new_weight.bin", weight);
}

int main() {
    try {
        run();
    } catch (const std::exception& error) {
        std::cerr << error.what() << '\n';
        return 1;
    }
    return 0;
}
