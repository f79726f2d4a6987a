#include <fstream>
#include <iostream>
#include <cuda_runtime.h>

const int kSrcH = 60;
const int kSrcW = 80;
const int kHeight = 70;
const int kWidth = 100;

__device__ float sample(const float* src, int y, int x) {
    if (x < 0 || y < 0 || x >= kSrcW || y >= kSrcH) return -1.0f;
    return src[y * kSrcW + x];
}

__global__ void remap(const float* src, const float* map_x, const float* map_y, float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float mx = map_x[i], my = map_y[i];
    int x0 = (int)floorf(mx), y0 = (int)floorf(my);
    float fx = mx - x0, fy = my - y0;
    float top = (1.0f - fx) * sample(src, y0, x0) + fx * sample(src, y0, x0 + 1);
    float bottom = (1.0f - fx) * sample(src, y0 + 1, x0) + fx * sample(src, y0 + 1, x0 + 1);
    out[i] = (1.0f - fy) * top + fy * bottom;
}

int main() {
    const int sourceSize = kSrcH * kSrcW;
    const int map_xSize = kHeight * kWidth;
    float* source = nullptr;
    cudaMallocManaged(&source, sourceSize * sizeof(float));
    float* map_x = nullptr;
    cudaMallocManaged(&map_x, map_xSize * sizeof(float));
    float* map_y = nullptr;
    cudaMallocManaged(&map_y, map_xSize * sizeof(float));
    float* remapped = nullptr;
    cudaMallocManaged(&remapped, map_xSize * sizeof(float));

    std::ifstream source_in("data/source.bin", std::ios::binary);
    source_in.read((char*)source, sourceSize * sizeof(float));
    if (!source_in) {
        std::cerr << "missing or short: data/source.bin\n";
        return 1;
    }
    std::ifstream map_x_in("data/map_x.bin", std::ios::binary);
    map_x_in.read((char*)map_x, map_xSize * sizeof(float));
    if (!map_x_in) {
        std::cerr << "missing or short: data/map_x.bin\n";
        return 1;
    }
    std::ifstream map_y_in("data/map_y.bin", std::ios::binary);
    map_y_in.read((char*)map_y, map_xSize * sizeof(float));
    if (!map_y_in) {
        std::cerr << "missing or short: data/map_y.bin\n";
        return 1;
    }

    const int pixels = kHeight * kWidth;
    remap<<<(pixels + 255) / 256, 256>>>(source, map_x, map_y, remapped, pixels);
    if (cudaDeviceSynchronize() != cudaSuccess) {
        std::cerr << "kernel failed\n";
        return 1;
    }

    std::ofstream remapped_file("data/remapped.bin", std::ios::binary);
    remapped_file.write((char*)remapped, map_xSize * sizeof(float));

    cudaFree(source);
    cudaFree(map_x);
    cudaFree(map_y);
    cudaFree(remapped);
    return 0;
}
