#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>
#include <vector>
#include <cuda_runtime.h>

template <typename T>
std::vector<T> load(const std::string& path, size_t count) {
    std::vector<T> v(count);
    std::ifstream in(path, std::ios::binary);
    if (!in.read((char*)v.data(), count * sizeof(T))) {
        std::cerr << "bad input file: " << path << std::endl;
        std::exit(EXIT_FAILURE);
    }
    return v;
}

template <typename T>
void store(const std::string& path, const std::vector<T>& v) {
    std::ofstream out(path, std::ios::binary);
    out.write((const char*)v.data(), v.size() * sizeof(T));
}
//@given

constexpr int kHeight = 60;
constexpr int kWidth = 110;
constexpr int kSteps = 5;

__global__ void fisher_step(const float* n, const float* g, float* out) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= kWidth || y >= kHeight) return;
    int up = y > 0 ? y - 1 : 1;
    int down = y < kHeight - 1 ? y + 1 : kHeight - 2;
    int left = x > 0 ? x - 1 : 1;
    int right = x < kWidth - 1 ? x + 1 : kWidth - 2;
    float c = n[y * kWidth + x];
    float lap = n[up * kWidth + x] + n[down * kWidth + x] + n[y * kWidth + left] + n[y * kWidth + right] - 4.0f * c;
    out[y * kWidth + x] = c + 0.15f * lap + 0.1f * g[y * kWidth + x] * c * (1.0f - c);
}

int main() {
    constexpr int size = kHeight * kWidth;
    const auto h_density = load<float>("data/density.bin", size);
    auto h_growth = load<float>("data/growth.bin", size);
    std::vector<float> h_spread(size);

    float* d_density;
    cudaMalloc(&d_density, size * sizeof(float));
    float* d_growth;
    cudaMalloc(&d_growth, size * sizeof(float));
    float* d_spread;
    cudaMalloc(&d_spread, size * sizeof(float));
    float* d_other;
    cudaMalloc(&d_other, size * sizeof(float));
    cudaMemcpy(d_density, h_density.data(), size * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_growth, h_growth.data(), size * sizeof(float), cudaMemcpyHostToDevice);

    dim3 block(32, 8);
    dim3 grid((kWidth + 31) / 32, (kHeight + 7) / 8);
    const float* before = d_density;
    for (int s = 0; s < kSteps; ++s) {
        float* after = (kSteps - s) % 2 == 1 ? d_spread : d_other;
        fisher_step<<<grid, block>>>(before, d_growth, after);
        before = after;
    }
    auto status = cudaGetLastError();
    if (status != cudaSuccess) {
        std::cerr << "launch failed: " << cudaGetErrorString(status) << std::endl;
        return 1;
    }
    cudaMemcpy(h_spread.data(), d_spread, size * sizeof(float), cudaMemcpyDeviceToHost);
    store("data/spread.bin", h_spread);
    cudaFree(d_density);
    cudaFree(d_growth);
    cudaFree(d_spread);
    cudaFree(d_other);
    return 0;
}
