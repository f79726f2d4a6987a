#include <fstream>
#include <iostream>
#include <vector>
#include <cuda_runtime.h>

constexpr int kPolygons = 100;
constexpr int kSides = 70;
const int kBlock = 128;

__global__ void polygon_kernel(const float* corners, float* area, float* perimeter) {
    __shared__ float twice[kBlock];
    __shared__ float around[kBlock];
    int t = threadIdx.x;
    const float* p = corners + (size_t)blockIdx.x * kSides * 2;
    float a = 0.0f, len = 0.0f;
    for (int j = t; j < kSides; j += kBlock) {
        int next = j + 1 < kSides ? j + 1 : 0;
        float x0 = p[2 * j], y0 = p[2 * j + 1];
        float x1 = p[2 * next], y1 = p[2 * next + 1];
        a += x0 * y1 - x1 * y0;
        len += sqrtf((x1 - x0) * (x1 - x0) + (y1 - y0) * (y1 - y0));
    }
    twice[t] = a;
    around[t] = len;
    __syncthreads();
    for (int s = kBlock / 2; s > 0; s /= 2) {
        if (t < s) {
            twice[t] += twice[t + s];
            around[t] += around[t + s];
        }
        __syncthreads();
    }
    if (t == 0) {
        area[blockIdx.x] = 0.5f * twice[0];
        perimeter[blockIdx.x] = around[0];
    }
}

void run(const float* d_corners, float* d_area, float* d_perimeter) {
    polygon_kernel<<<kPolygons, kBlock>>>(d_corners, d_area, d_perimeter);
}

int main() {
    std::vector<float> h_corners(kPolygons * kSides * 2);
    std::vector<float> h_area(kPolygons);
    std::vector<float> h_perimeter(kPolygons);
    std::ifstream in("data/corners.bin", std::ios::binary);
    if (!in.read(reinterpret_cast<char*>(h_corners.data()), kPolygons * kSides * 2 * sizeof(float))) {
        std::cerr << "cannot read data/corners.bin" << std::endl;
        return 1;
    }

    float *d_corners, *d_area, *d_perimeter;
    cudaMalloc(&d_corners, kPolygons * kSides * 2 * sizeof(float));
    cudaMalloc(&d_area, kPolygons * sizeof(float));
    cudaMalloc(&d_perimeter, kPolygons * sizeof(float));
    cudaMemcpy(d_corners, h_corners.data(), kPolygons * kSides * 2 * sizeof(float), cudaMemcpyHostToDevice);

    run(d_corners, d_area, d_perimeter);

    cudaMemcpy(h_area.data(), d_area, kPolygons * sizeof(float), cudaMemcpyDeviceToHost);
    cudaMemcpy(h_perimeter.data(), d_perimeter, kPolygons * sizeof(float), cudaMemcpyDeviceToHost);
    std::ofstream out_area("data/area.bin", std::ios::binary);
    out_area.write(reinterpret_cast<const char*>(h_area.data()), kPolygons * sizeof(float));
    std::ofstream out_perimeter("data/perimeter.bin", std::ios::binary);
    out_perimeter.write(reinterpret_cast<const char*>(h_perimeter.data()), kPolygons * sizeof(float));

    cudaFree(d_corners);
    cudaFree(d_area);
    cudaFree(d_perimeter);
    return 0;
}
