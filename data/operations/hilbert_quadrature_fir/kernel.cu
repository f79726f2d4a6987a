#include <cuda_runtime.h>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>
#include <vector>

constexpr int ROWS = 10;
constexpr int SAMPLES = 1500;

struct GpuArray {
    float* ptr = nullptr;
    size_t count;
    explicit GpuArray(size_t n) : count(n) {
        if (cudaMalloc(&ptr, n * sizeof(float)) != cudaSuccess) {
            std::cerr << "cudaMalloc failed" << std::endl;
            std::exit(1);
        }
    }
    ~GpuArray() { cudaFree(ptr); }
    GpuArray(const GpuArray&) = delete;
    GpuArray& operator=(const GpuArray&) = delete;
    void copyFrom(const std::vector<float>& v) {
        cudaMemcpy(ptr, v.data(), count * sizeof(float), cudaMemcpyHostToDevice);
    }
    void copyTo(std::vector<float>& v) const {
        cudaMemcpy(v.data(), ptr, count * sizeof(float), cudaMemcpyDeviceToHost);
    }
};

std::vector<float> readFile(const std::string& path, size_t n) {
    std::vector<float> v(n);
    std::ifstream in(path, std::ios::binary);
    in.read(reinterpret_cast<char*>(v.data()), n * sizeof(float));
    if (!in) {
        std::cerr << "cannot read " + path << std::endl;
        std::exit(1);
    }
    return v;
}

constexpr int TILE = 512;
constexpr int THREADS = 256;
__constant__ float weight[8];  // for k = 1, 3, ..., 15; the filter is odd

__global__ void quadrature_tile(const float* __restrict__ x, float* __restrict__ quadrature) {
    __shared__ float s[TILE + 30];
    const float* row = x + (size_t)blockIdx.y * SAMPLES;
    const int start = blockIdx.x * TILE;
    for (int i = threadIdx.x; i < TILE + 30; i += THREADS) {
        s[i] = row[min(max(start + i - 15, 0), SAMPLES - 1)];
    }
    __syncthreads();
    const int count = min(TILE, SAMPLES - start);
    for (int i = threadIdx.x; i < count; i += THREADS) {
        const float* centre = s + i + 15;
        float sum = 0.0f;
        for (int j = 0; j < 8; ++j) {
            const int k = 2 * j + 1;
            sum += weight[j] * (centre[-k] - centre[k]);
        }
        quadrature[(size_t)blockIdx.y * SAMPLES + start + i] = sum;
    }
}

int main() {
    const int count = ROWS * SAMPLES;
    std::vector<float> h_x = readFile("data/x.bin", count);
    std::vector<float> h_quadrature(count);

    GpuArray d_x(count);
    GpuArray d_quadrature(count);
    d_x.copyFrom(h_x);

    float taps[8];
    for (int j = 0; j < 8; ++j) {
        double k = 2 * j + 1, pi = 3.14159265358979;
        taps[j] = (float)(2.0 / (pi * k) * (0.54 + 0.46 * std::cos(pi * k / 15.0)));
    }
    cudaMemcpyToSymbol(weight, taps, sizeof(taps));
    dim3 grid((SAMPLES + TILE - 1) / TILE, ROWS);
    quadrature_tile<<<grid, THREADS>>>(d_x.ptr, d_quadrature.ptr);
    if (cudaDeviceSynchronize() != cudaSuccess) {
        std::cerr << "kernel failed" << std::endl;
        std::exit(1);
    }

    d_quadrature.copyTo(h_quadrature);
    std::ofstream out("data/quadrature.bin", std::ios::binary);
    out.write(reinterpret_cast<char*>(h_quadrature.data()), count * sizeof(float));
    return 0;
}
