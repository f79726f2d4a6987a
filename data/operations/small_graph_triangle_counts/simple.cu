#include <cstdlib>
#include <iostream>
#include <fstream>
#include <vector>
#include <string>
#include <cuda_runtime.h>

constexpr int kGraphs = 30;
constexpr int kSize = 24;

template <typename T>
struct DeviceBuffer {
    T* data = nullptr;
    explicit DeviceBuffer(size_t n) {
        if (cudaMalloc(&data, n * sizeof(T)) != cudaSuccess) {
            std::cerr << "cudaMalloc failed" << std::endl;
            std::exit(1);
        }
    }
    ~DeviceBuffer() { cudaFree(data); }
    DeviceBuffer(const DeviceBuffer&) = delete;
    DeviceBuffer& operator=(const DeviceBuffer&) = delete;
};

std::vector<unsigned char> read_input(const std::string& path, size_t n) {
    std::vector<unsigned char> v(n);
    std::ifstream in(path, std::ios::binary);
    if (!in.read(reinterpret_cast<char*>(v.data()), n * sizeof(unsigned char))) {
        std::cerr << "cannot read " + path << std::endl;
        std::exit(1);
    }
    return v;
}

__global__ void count_shapes(const unsigned char* adjacency, int* triangles, int* wedges) {
    __shared__ int found, paths;
    const unsigned char* a = adjacency + (size_t)blockIdx.x * kSize * kSize;
    if (threadIdx.x == 0) {
        found = 0;
        paths = 0;
    }
    __syncthreads();
    for (int i = threadIdx.x; i < kSize; i += blockDim.x) {
        int degree = 0, closed = 0;
        for (int j = 0; j < kSize; ++j) {
            if (!a[i * kSize + j]) continue;
            ++degree;
            if (j < i) continue;
            for (int k = j + 1; k < kSize; ++k) closed += a[i * kSize + k] & a[j * kSize + k];
        }
        atomicAdd(&found, closed);
        atomicAdd(&paths, degree * (degree - 1) / 2);
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        triangles[blockIdx.x] = found;
        wedges[blockIdx.x] = paths;
    }
}

int main() {
    std::vector<unsigned char> h_adjacency = read_input("data/adjacency.bin", kGraphs * kSize * kSize);
    std::vector<int> h_triangles(kGraphs);
    std::vector<int> h_wedges(kGraphs);

    DeviceBuffer<unsigned char> adjacency(kGraphs * kSize * kSize);
    DeviceBuffer<int> triangles(kGraphs);
    DeviceBuffer<int> wedges(kGraphs);
    cudaMemcpy(adjacency.data, h_adjacency.data(), kGraphs * kSize * kSize * sizeof(unsigned char),
            cudaMemcpyHostToDevice);

    count_shapes<<<kGraphs, 64>>>(adjacency.data, triangles.data, wedges.data);
    if (cudaDeviceSynchronize() != cudaSuccess) {
        std::cerr << "kernel failed" << std::endl;
        std::exit(1);
    }
    cudaMemcpy(h_triangles.data(), triangles.data, kGraphs * sizeof(int), cudaMemcpyDeviceToHost);
    cudaMemcpy(h_wedges.data(), wedges.data, kGraphs * sizeof(int), cudaMemcpyDeviceToHost);

    std::ofstream("data/triangles.bin",
            std::ios::binary).write(reinterpret_cast<const char*>(h_triangles.data()), kGraphs * sizeof(int));
    std::ofstream("data/wedges.bin",
            std::ios::binary).write(reinterpret_cast<const char*>(h_wedges.data()), kGraphs * sizeof(int));
}
