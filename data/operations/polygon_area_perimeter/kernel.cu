#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>
#include <cuda_runtime.h>

void load_array(const std::string& path, float* buffer, size_t count) {
    std::ifstream file(path, std::ios::binary);
    if (!file) {
        std::cerr << "cannot open " << path << std::endl;
        exit(1);
    }
    file.read(reinterpret_cast<char*>(buffer), count * sizeof(float));
}

void save_array(const std::string& path, const float* buffer, size_t count) {
    std::ofstream file(path, std::ios::binary);
    file.write(reinterpret_cast<const char*>(buffer), count * sizeof(float));
}
//@given

constexpr int kPolygons = 100;
constexpr int kSides = 70;
const int kWarps = 8;

// One warp a polygon; coordinates are taken relative to the first corner, which keeps the products small.
__global__ void shoelace_warps(const float2* __restrict__ corners, float* __restrict__ area,
                               float* __restrict__ perimeter) {
    int polygon = blockIdx.x * kWarps + threadIdx.y;
    if (polygon >= kPolygons) return;
    const float2* p = corners + (size_t)polygon * kSides;
    float2 o = p[0];
    float twice = 0.0f, around = 0.0f;
    for (int j = threadIdx.x; j < kSides; j += 32) {
        float2 a = p[j];
        float2 b = p[(j + 1) % kSides];
        float dx = b.x - a.x, dy = b.y - a.y;
        twice += (a.x - o.x) * dy - (a.y - o.y) * dx;
        around += sqrtf(dx * dx + dy * dy);
    }
    for (int s = 16; s > 0; s >>= 1) {
        twice += __shfl_xor_sync(0xffffffffu, twice, s);
        around += __shfl_xor_sync(0xffffffffu, around, s);
    }
    if (threadIdx.x == 0) {
        area[polygon] = 0.5f * twice;
        perimeter[polygon] = around;
    }
}

int main() {
    float* h_corners = new float[kPolygons * kSides * 2];
    float* h_area = new float[kPolygons];
    float* h_perimeter = new float[kPolygons];
    load_array("data/corners.bin", h_corners, kPolygons * kSides * 2);

    float* d_corners;
    float* d_area;
    float* d_perimeter;
    cudaMalloc(&d_corners, sizeof(float) * kPolygons * kSides * 2);
    cudaMalloc(&d_area, sizeof(float) * kPolygons);
    cudaMalloc(&d_perimeter, sizeof(float) * kPolygons);
    cudaMemcpy(d_corners, h_corners, sizeof(float) * kPolygons * kSides * 2, cudaMemcpyHostToDevice);

    dim3 block(32, kWarps);
    shoelace_warps<<<(kPolygons + kWarps - 1) / kWarps, block>>>((const float2*)d_corners, d_area, d_perimeter);
    cudaDeviceSynchronize();

    cudaMemcpy(h_area, d_area, sizeof(float) * kPolygons, cudaMemcpyDeviceToHost);
    cudaMemcpy(h_perimeter, d_perimeter, sizeof(float) * kPolygons, cudaMemcpyDeviceToHost);
    save_array("data/area.bin", h_area, kPolygons);
    save_array("data/perimeter.bin", h_perimeter, kPolygons);

    cudaFree(d_corners);
    cudaFree(d_area);
    cudaFree(d_perimeter);
    delete[] h_corners;
    delete[] h_area;
    delete[] h_perimeter;
    return 0;
}
