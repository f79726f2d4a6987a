#include <cuda_runtime.h>

#include <cstdint>
#include <fstream>
#include <iostream>
#include <string>
#include <vector>

__global__ void project(const uint16_t* depth, const float* camera, float* cloud, int* valid, int height, int width) {
    int p = blockIdx.x * blockDim.x + threadIdx.x;
    if (p >= height * width) return;
    int v = p / width, u = p % width;
    float z = 0.001f * depth[p];
    cloud[3 * p] = (u - camera[2]) * z / camera[0];
    cloud[3 * p + 1] = (v - camera[3]) * z / camera[1];
    cloud[3 * p + 2] = z;
    if (depth[p] > 0) atomicAdd(&valid[v], 1);
}

void check(cudaError_t status) {
    if (status == cudaSuccess) return;
    std::cerr << "CUDA error: " << cudaGetErrorString(status) << "\n";
    std::exit(1);
}

template <typename T>
T* load(const std::string& path, size_t count) {
    T* values;
    check(cudaMallocManaged(&values, count * sizeof(T)));
    std::ifstream in(path, std::ios::binary | std::ios::ate);
    bool fits = in && size_t(in.tellg()) == count * sizeof(T);
    in.seekg(0);
    if (!fits || !in.read(reinterpret_cast<char*>(values), count * sizeof(T))) {
        std::cerr << path << ": expected " << count << " values\n";
        std::exit(1);
    }
    return values;
}

void save(const std::string& path, const void* values, size_t bytes) {
    std::ofstream out(path, std::ios::binary);
    out.write(static_cast<const char*>(values), bytes);
    out.close();
    if (!out) {
        std::cerr << path << ": not written\n";
        std::exit(1);
    }
}

int main() {
    int* sizes = load<int>("data/sizes.bin", 2);
    int height = sizes[0], width = sizes[1];
    if (height < 1 || height > 4096 || width < 1 || width > 4096) {
        std::cerr << "data/sizes.bin: sides are 1 to 4096\n";
        return 1;
    }
    int pixels = height * width;
    uint16_t* depth = load<uint16_t>("data/depth.bin", pixels);
    float* camera = load<float>("data/intrinsics.bin", 4);
    float* cloud;
    int* valid;
    check(cudaMallocManaged(&cloud, 3 * size_t(pixels) * sizeof(float)));
    check(cudaMallocManaged(&valid, height * sizeof(int)));
    for (int v = 0; v < height; ++v) valid[v] = 0;
    project<<<(pixels + 255) / 256, 256>>>(depth, camera, cloud, valid, height, width);
    check(cudaGetLastError());
    check(cudaDeviceSynchronize());
    save("data/cloud.bin", cloud, 3 * size_t(pixels) * sizeof(float));
    save("data/valid.bin", valid, height * sizeof(int));
    for (void* buffer : std::vector<void*>{sizes, depth, camera, cloud, valid}) check(cudaFree(buffer));
    return 0;
}
