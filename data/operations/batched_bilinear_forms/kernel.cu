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

constexpr int kBatch = 20;
constexpr int kM = 30;
constexpr int kN = 40;

// A warp takes whole rows of the matrix: one product with x per row instead of one per entry.
__global__ void bilinear_warps(const float* __restrict__ x, const float* __restrict__ a, const float* __restrict__ y,
                               float* __restrict__ form) {
    __shared__ float ys[kN];
    __shared__ float perWarp[8];
    const int b = blockIdx.x, lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    for (int j = threadIdx.x; j < kN; j += 256) ys[j] = y[b * kN + j];
    __syncthreads();
    float total = 0.0f;
    for (int i = warp; i < kM; i += 8) {
        const float* row = a + ((size_t)b * kM + i) * kN;
        float sum = 0.0f;
        for (int j = lane; j < kN; j += 32) sum = fmaf(row[j], ys[j], sum);
        total = fmaf(x[b * kM + i], sum, total);
    }
    for (int s = 16; s > 0; s /= 2) total += __shfl_down_sync(0xffffffffu, total, s);
    if (lane == 0) perWarp[warp] = total;
    __syncthreads();
    if (threadIdx.x == 0) {
        float sum = 0.0f;
        for (int k = 0; k < 8; ++k) sum += perWarp[k];
        form[b] = sum;
    }
}

int main() {
    constexpr size_t n_x = (size_t)kBatch * kM;
    constexpr size_t n_a = (size_t)kBatch * kM * kN;
    constexpr size_t n_y = (size_t)kBatch * kN;
    auto x = load_file<float>("data/x.bin", n_x);
    auto a = load_file<float>("data/a.bin", n_a);
    auto y = load_file<float>("data/y.bin", n_y);
    std::vector<float> form(kBatch);

    float* d_x = nullptr;
    float* d_a = nullptr;
    float* d_y = nullptr;
    float* d_form = nullptr;
    cudaMalloc(&d_x, n_x * sizeof(float));
    cudaMalloc(&d_a, n_a * sizeof(float));
    cudaMalloc(&d_y, n_y * sizeof(float));
    cudaMalloc(&d_form, kBatch * sizeof(float));
    cudaMemcpy(d_x, x.data(), n_x * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_a, a.data(), n_a * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_y, y.data(), n_y * sizeof(float), cudaMemcpyHostToDevice);

    bilinear_warps<<<kBatch, 256>>>(d_x, d_a, d_y, d_form);
    if (auto err = cudaDeviceSynchronize(); err != cudaSuccess) {
        std::cerr << cudaGetErrorString(err) << "\n";
        return 1;
    }
    cudaMemcpy(form.data(), d_form, kBatch * sizeof(float), cudaMemcpyDeviceToHost);
    store_file("data/form.bin", form);
    cudaFree(d_x);
    cudaFree(d_a);
    cudaFree(d_y);
    cudaFree(d_form);
    return 0;
}
