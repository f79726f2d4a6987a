#include <fstream>
#include <iostream>
#include <string>
#include <vector>
#include <cstdlib>
#include <cuda_runtime.h>

template <typename T>
std::vector<T> load_file(const std::string& path, size_t count) {
    std::vector<T> values(count);
    std::ifstream file(path, std::ios::binary);
    if (!file.read(reinterpret_cast<char*>(values.data()), count * sizeof(T))) {
        std::cerr << "unreadable: " << path << "\n";
        std::exit(1);
    }
    return values;
}

template <typename T>
void store_file(const std::string& path, const std::vector<T>& values) {
    std::ofstream file(path, std::ios::binary);
    file.write(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T));
}
//@given

constexpr int kRows = 60;
constexpr int kCols = 333;
constexpr int kStrip = 16;

// A block owns 128 columns and a strip of rows: y stays in a register, x[i] is the same for the whole block.
__global__ void rank_one_strips(const float* __restrict__ a, const float* __restrict__ x, const float* __restrict__ y,
                                const float* __restrict__ coeffs, float* __restrict__ updated) {
    const int col = blockIdx.x * blockDim.x + threadIdx.x;
    if (col >= kCols) return;
    const float beta = coeffs[1];
    const float scaled = coeffs[0] * y[col];
    const int first = blockIdx.y * kStrip;
    const int last = min(first + kStrip, kRows);
    for (int row = first; row < last; ++row) {
        const int at = row * kCols + col;
        updated[at] = fmaf(beta, a[at], x[row] * scaled);
    }
}

int main() {
    constexpr size_t a_size = (size_t)kRows * kCols;
    auto a = load_file<float>("data/a.bin", a_size);
    auto x = load_file<float>("data/x.bin", kRows);
    auto y = load_file<float>("data/y.bin", kCols);
    auto coeffs = load_file<float>("data/coeffs.bin", 2);
    std::vector<float> updated(a_size);

    float* d_a = nullptr;
    float* d_x = nullptr;
    float* d_y = nullptr;
    float* d_coeffs = nullptr;
    float* d_updated = nullptr;
    cudaMalloc(&d_a, a_size * sizeof(float));
    cudaMalloc(&d_x, kRows * sizeof(float));
    cudaMalloc(&d_y, kCols * sizeof(float));
    cudaMalloc(&d_coeffs, 2 * sizeof(float));
    cudaMalloc(&d_updated, a_size * sizeof(float));
    cudaMemcpy(d_a, a.data(), a_size * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_x, x.data(), kRows * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_y, y.data(), kCols * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_coeffs, coeffs.data(), 2 * sizeof(float), cudaMemcpyHostToDevice);

    dim3 grid((kCols + 127) / 128, (kRows + kStrip - 1) / kStrip);
    rank_one_strips<<<grid, 128>>>(d_a, d_x, d_y, d_coeffs, d_updated);
    if (auto err = cudaDeviceSynchronize(); err != cudaSuccess) {
        std::cerr << cudaGetErrorString(err) << "\n";
        return 1;
    }
    cudaMemcpy(updated.data(), d_updated, a_size * sizeof(float), cudaMemcpyDeviceToHost);
    store_file("data/updated.bin", updated);
    cudaFree(d_a);
    cudaFree(d_x);
    cudaFree(d_y);
    cudaFree(d_coeffs);
    cudaFree(d_updated);
    return 0;
}
