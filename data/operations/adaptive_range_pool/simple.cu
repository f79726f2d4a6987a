#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>
#include <cuda_runtime.h>

void readData(const std::string& path, float* dst, size_t count) {
    std::ifstream in(path, std::ios::binary);
    in.read(reinterpret_cast<char*>(dst), count * sizeof(float));
    if (!in) {
        std::cerr << "cannot read " << path << "\n";
        std::exit(1);
    }
}

void writeData(const std::string& path, const float* dst, size_t count) {
    std::ofstream out(path, std::ios::binary);
    out.write(reinterpret_cast<const char*>(dst), count * sizeof(float));
}
//@given

constexpr int kPlanes = 4;
constexpr int kHeight = 50;
constexpr int kWidth = 60;
constexpr int kOutH = 7;
constexpr int kOutW = 9;

__global__ void range_pool(const float* x, const float* offset, float* spread) {
    int k = blockIdx.x * blockDim.x + threadIdx.x;
    if (k >= kPlanes * kOutH * kOutW) return;
    int j = k % kOutW;
    int i = k / kOutW % kOutH;
    const float* plane = x + (size_t)(k / (kOutH * kOutW)) * kHeight * kWidth;
    int y0 = i * kHeight / kOutH, y1 = ((i + 1) * kHeight + kOutH - 1) / kOutH;
    int x0 = j * kWidth / kOutW, x1 = ((j + 1) * kWidth + kOutW - 1) / kOutW;
    float high = plane[y0 * kWidth + x0], low = high;
    for (int y = y0; y < y1; ++y) {
        for (int c = x0; c < x1; ++c) {
            float v = plane[y * kWidth + c];
            high = fmaxf(high, v);
            low = fminf(low, v);
        }
    }
    spread[k] = high - low + offset[i * kOutW + j];
}

int main() {
    const size_t x_count = kPlanes * kHeight * kWidth;
    const size_t offset_count = (size_t)kOutH * kOutW;
    const size_t spread_count = kPlanes * kOutH * kOutW;
    float* h_x = new float[x_count];
    float* h_offset = new float[offset_count];
    float* h_spread = new float[spread_count];
    readData("data/x.bin", h_x, x_count);
    readData("data/offset.bin", h_offset, offset_count);

    float* d_x;
    cudaMalloc(&d_x, x_count * sizeof(float));
    float* d_offset;
    cudaMalloc(&d_offset, offset_count * sizeof(float));
    float* d_spread;
    cudaMalloc(&d_spread, spread_count * sizeof(float));
    cudaMemcpy(d_x, h_x, x_count * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_offset, h_offset, offset_count * sizeof(float), cudaMemcpyHostToDevice);

    int block = 128;
    range_pool<<<(kPlanes * kOutH * kOutW + block - 1) / block, block>>>(d_x, d_offset, d_spread);
    if (cudaDeviceSynchronize() != cudaSuccess) {
        std::cerr << cudaGetErrorString(cudaGetLastError()) << "\n";
        return 1;
    }

    cudaMemcpy(h_spread, d_spread, spread_count * sizeof(float), cudaMemcpyDeviceToHost);
    writeData("data/spread.bin", h_spread, spread_count);

    delete[] h_x;
    delete[] h_offset;
    delete[] h_spread;
    cudaFree(d_x);
    cudaFree(d_offset);
    cudaFree(d_spread);
    return 0;
}
