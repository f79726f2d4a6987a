#include <cfloat>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>
#include <vector>
#include <cuda_runtime.h>

template <typename T>
std::vector<T> readVector(const std::string& file_name, size_t count) {
    std::vector<T> v(count);
    std::ifstream in(file_name, std::ios::binary);
    if (!in.read(reinterpret_cast<char*>(v.data()), count * sizeof(T))) {
        std::cerr << "cannot load " << file_name << std::endl;
        std::exit(1);
    }
    return v;
}

template <typename T>
void writeVector(const std::string& file_name, const std::vector<T>& v) {
    std::ofstream out(file_name, std::ios::binary);
    out.write(reinterpret_cast<const char*>(v.data()), v.size() * sizeof(T));
}
//@given

constexpr int PLANES = 30;
constexpr int HEIGHT = 30;
constexpr int WIDTH = 41;

// One block of 64 threads per bin.
__global__ void pyramid_bin(const float* maps, float* bins) {
    __shared__ float best[64];
    int bin = blockIdx.x;
    int plane = blockIdx.y;
    int g = bin == 0 ? 1 : bin < 5 ? 2 : 4;
    int cell = bin == 0 ? 0 : bin < 5 ? bin - 1 : bin - 5;
    int i = cell / g, j = cell % g;
    int r0 = i * HEIGHT / g, r1 = ((i + 1) * HEIGHT + g - 1) / g;
    int c0 = j * WIDTH / g, c1 = ((j + 1) * WIDTH + g - 1) / g;
    const float* map = maps + (size_t)plane * HEIGHT * WIDTH;
    float m = -FLT_MAX;
    int wide = c1 - c0;
    for (int k = threadIdx.x; k < (r1 - r0) * wide; k += 64)
        m = fmaxf(m, map[(r0 + k / wide) * WIDTH + c0 + k % wide]);
    best[threadIdx.x] = m;
    __syncthreads();
    for (int s = 32; s > 0; s >>= 1) {
        if (threadIdx.x < s) best[threadIdx.x] = fmaxf(best[threadIdx.x], best[threadIdx.x + s]);
        __syncthreads();
    }
    if (threadIdx.x == 0) bins[plane * 21 + bin] = best[0];
}

int main() {
    constexpr size_t maps_size = size_t(PLANES) * HEIGHT * WIDTH;
    constexpr size_t bins_size = size_t(PLANES) * 21;
    const auto maps = readVector<float>("data/maps.bin", maps_size);
    std::vector<float> bins(bins_size);

    float* d_maps = nullptr;
    float* d_bins = nullptr;
    cudaMalloc(&d_maps, maps_size * sizeof(float));
    cudaMalloc(&d_bins, bins_size * sizeof(float));
    cudaMemcpy(d_maps, maps.data(), maps.size() * sizeof(float), cudaMemcpyHostToDevice);

    dim3 grid(21, PLANES);
    pyramid_bin<<<grid, 64>>>(d_maps, d_bins);
    if (const auto error = cudaDeviceSynchronize(); error != cudaSuccess) {
        std::cerr << cudaGetErrorString(error) << std::endl;
        return 1;
    }

    cudaMemcpy(bins.data(), d_bins, bins.size() * sizeof(float), cudaMemcpyDeviceToHost);
    writeVector("data/bins.bin", bins);
    cudaFree(d_maps);
    cudaFree(d_bins);
    return 0;
}
