#include <cuda_runtime.h>

#include <cstdint>
#include <fstream>
#include <iostream>
#include <stdexcept>
#include <vector>

__global__ void band(const int16_t* volume, int* bands, int depth, int height, int width) {
    int e = blockIdx.x * blockDim.x + threadIdx.x;
    int cubes = depth * height * width;
    if (e >= 8 * cubes) return;
    int b = e / cubes, z = e % cubes / (height * width), y = e % (height * width) / width, x = e % width;
    int sum = 0;
    for (int corner = 0; corner < 8; ++corner) {
        int cz = 2 * z + (corner >> 2), cy = 2 * y + (corner >> 1 & 1), cx = 2 * x + (corner & 1);
        int value = volume[(size_t(cz) * 2 * height + cy) * 2 * width + cx];
        sum += __popc(corner & b) % 2 == 0 ? value : -value;
    }
    bands[e] = sum;
}

void check(cudaError_t status) {
    if (status != cudaSuccess) throw std::runtime_error(cudaGetErrorString(status));
}

template <typename T>
std::vector<T> load(const char* path, size_t count) {
    std::vector<T> values(count);
    std::ifstream in(path, std::ios::binary);
    in.read(reinterpret_cast<char*>(values.data()), count * sizeof(T));
    if (!in || in.peek() != EOF) throw std::runtime_error(path);
    return values;
}

int main() {
    try {
        auto sizes = load<int>("data/sizes.bin", 3);
        for (int side : sizes) {
            if (side < 1 || side > 256) throw std::runtime_error("data/sizes.bin: out of range");
        }
        size_t voxels = size_t(8) * sizes[0] * sizes[1] * sizes[2];
        auto volume = load<int16_t>("data/volume.bin", voxels);
        std::vector<int> bands(voxels);
        int16_t* dVolume;
        int* dBands;
        check(cudaMalloc(&dVolume, voxels * sizeof(int16_t)));
        check(cudaMalloc(&dBands, voxels * sizeof(int)));
        check(cudaMemcpy(dVolume, volume.data(), voxels * sizeof(int16_t), cudaMemcpyHostToDevice));
        band<<<(voxels + 127) / 128, 128>>>(dVolume, dBands, sizes[0], sizes[1], sizes[2]);
        check(cudaGetLastError());
        check(cudaMemcpy(bands.data(), dBands, voxels * sizeof(int), cudaMemcpyDeviceToHost));
        check(cudaFree(dVolume));
        check(cudaFree(dBands));
        std::ofstream out("data/bands.bin", std::ios::binary);
        out.write(reinterpret_cast<const char*>(bands.data()), voxels * sizeof(int));
        out.close();
        if (!out) throw std::runtime_error("data/bands.bin: cannot be written");
    } catch (const std::exception& error) {
        std::cerr << error.what() << std::endl;
        return 1;
    }
    return 0;
}
