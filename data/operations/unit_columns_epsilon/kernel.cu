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
        std::cerr << "unreadable: " << path << "\n";
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

constexpr int kRows = 200;
constexpr int kCols = 150;

// A block of 32 x 16 threads owns 32 columns: threads of one x share a column's sum and then scale it.
__global__ void normalize_columns(const float* __restrict__ a, float* __restrict__ unit, float* __restrict__ length) {
    __shared__ float part[16][32];
    const int c = blockIdx.x * 32 + threadIdx.x;
    float sum = 0.0f;
    if (c < kCols) {
        for (int r = threadIdx.y; r < kRows; r += 16) {
            const float v = a[r * kCols + c];
            sum = fmaf(v, v, sum);
        }
    }
    part[threadIdx.y][threadIdx.x] = sum;
    __syncthreads();
    for (int s = 8; s > 0; s >>= 1) {
        if (threadIdx.y < s) part[threadIdx.y][threadIdx.x] += part[threadIdx.y + s][threadIdx.x];
        __syncthreads();
    }
    if (c >= kCols) return;
    const float norm = sqrtf(part[0][threadIdx.x]);
    if (threadIdx.y == 0) length[c] = norm;
    const float inv = 1.0f / fmaxf(norm, 1e-4f);
    for (int r = threadIdx.y; r < kRows; r += 16) unit[r * kCols + c] = a[r * kCols + c] * inv;
}

int main() {
    constexpr size_t a_count = (size_t)kRows * kCols;
    auto h_a = read_vector<float>("data/a.bin", a_count);
    std::vector<float> h_unit(a_count);
    std::vector<float> h_length(kCols);

    float* dev_a = nullptr;
    float* dev_unit = nullptr;
    float* dev_length = nullptr;
    cudaMalloc(&dev_a, a_count * sizeof(float));
    cudaMalloc(&dev_unit, a_count * sizeof(float));
    cudaMalloc(&dev_length, kCols * sizeof(float));
    cudaMemcpy(dev_a, h_a.data(), a_count * sizeof(float), cudaMemcpyHostToDevice);

    normalize_columns<<<(kCols + 31) / 32, dim3(32, 16)>>>(dev_a, dev_unit, dev_length);
    if (auto err = cudaDeviceSynchronize(); err != cudaSuccess) {
        std::cerr << cudaGetErrorString(err) << "\n";
        return 1;
    }
    cudaMemcpy(h_unit.data(), dev_unit, a_count * sizeof(float), cudaMemcpyDeviceToHost);
    write_vector("data/unit.bin", h_unit);
    cudaMemcpy(h_length.data(), dev_length, kCols * sizeof(float), cudaMemcpyDeviceToHost);
    write_vector("data/length.bin", h_length);
    cudaFree(dev_a);
    cudaFree(dev_unit);
    cudaFree(dev_length);
    return 0;
}
