#include <fstream>
#include <iostream>
#include <string>
#include <vector>
#include <cstdlib>
#include <cuda_runtime.h>

template <typename T>
std::vector<T> read_vector(const std::string& path, size_t count) {
    std::vector<T> values(count);
    std::ifstream file(path, std::ios::binary);
    if (!file.read(reinterpret_cast<char*>(values.data()), count * sizeof(T))) {
        std::cerr << "cannot read " << path << "\n";
        std::exit(1);
    }
    return values;
}

template <typename T>
void write_vector(const std::string& path, const std::vector<T>& values) {
    std::ofstream file(path, std::ios::binary);
    file.write(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T));
}
//@given

constexpr int kVectors = 10;
constexpr int kBlocks = 12;
constexpr int kSize = 16;
constexpr int kLength = kBlocks * kSize;

__global__ void apply_blocks(const float* d, const float* x, float* y) {
    int idx = blockIdx.x * blockDim.x + threadIdx.x;
    if (idx >= kVectors * kLength) return;
    int position = idx % kLength;
    int k = position / kSize;
    int r = position % kSize;
    const float* row = d + (k * kSize + r) * kSize;
    const float* part = x + (idx - r);
    float sum = 0.0f;
    for (int c = 0; c < kSize; ++c) sum += row[c] * part[c];
    y[idx] = sum;
}

int main() {
    constexpr size_t d_elems = (size_t)kBlocks * kSize * kSize;
    constexpr size_t x_elems = (size_t)kVectors * kBlocks * kSize;
    auto host_d = read_vector<float>("data/d.bin", d_elems);
    auto host_x = read_vector<float>("data/x.bin", x_elems);
    std::vector<float> host_y(x_elems);

    float* d_d = nullptr;
    float* d_x = nullptr;
    float* d_y = nullptr;
    cudaMalloc(&d_d, d_elems * sizeof(float));
    cudaMalloc(&d_x, x_elems * sizeof(float));
    cudaMalloc(&d_y, x_elems * sizeof(float));
    cudaMemcpy(d_d, host_d.data(), d_elems * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_x, host_x.data(), x_elems * sizeof(float), cudaMemcpyHostToDevice);

    const int threads = 256;
    apply_blocks<<<(kVectors * kLength + threads - 1) / threads, threads>>>(d_d, d_x, d_y);
    if (auto err = cudaDeviceSynchronize(); err != cudaSuccess) {
        std::cerr << cudaGetErrorString(err) << "\n";
        return 1;
    }
    cudaMemcpy(host_y.data(), d_y, x_elems * sizeof(float), cudaMemcpyDeviceToHost);
    write_vector("data/y.bin", host_y);
    cudaFree(d_d);
    cudaFree(d_x);
    cudaFree(d_y);
    return 0;
}
