#include <fstream>
#include <iostream>
#include <string>
#include <vector>
#include <cstdlib>
#include <cuda_runtime.h>

template <typename T>
std::vector<T> load(const std::string& path, size_t count) {
    std::vector<T> values(count);
    std::ifstream file(path, std::ios::binary);
    if (!file.read(reinterpret_cast<char*>(values.data()), count * sizeof(T))) {
        std::cerr << "failed to load " << path << "\n";
        std::exit(1);
    }
    return values;
}

template <typename T>
void store(const std::string& path, const std::vector<T>& values) {
    std::ofstream file(path, std::ios::binary);
    file.write(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T));
}
//@given

constexpr int kBatch = 20;
constexpr int kN = 300;
constexpr int kRank = 4;

// One block per vector: all inner products are gathered in one pass over x and v, then the same block expands them.
__global__ void apply_low_rank(const float* __restrict__ d, const float* __restrict__ u, const float* __restrict__ v,
                               const float* __restrict__ x, float* __restrict__ y) {
    __shared__ float perWarp[8][kRank];
    __shared__ float z[kRank];
    const float* xb = x + (size_t)blockIdx.x * kN;
    float acc[kRank];
    for (int k = 0; k < kRank; ++k) acc[k] = 0.0f;
    for (int j = threadIdx.x; j < kN; j += 256) {
        const float value = xb[j];
        for (int k = 0; k < kRank; ++k) acc[k] = fmaf(v[j * kRank + k], value, acc[k]);
    }
    for (int k = 0; k < kRank; ++k) {
        for (int s = 16; s > 0; s >>= 1) acc[k] += __shfl_down_sync(0xffffffffu, acc[k], s);
        if (threadIdx.x % 32 == 0) perWarp[threadIdx.x / 32][k] = acc[k];
    }
    __syncthreads();
    if (threadIdx.x < kRank) {
        float total = 0.0f;
        for (int w = 0; w < 8; ++w) total += perWarp[w][threadIdx.x];
        z[threadIdx.x] = total;
    }
    __syncthreads();
    for (int i = threadIdx.x; i < kN; i += 256) {
        float sum = d[i] * xb[i];
        for (int k = 0; k < kRank; ++k) sum = fmaf(u[i * kRank + k], z[k], sum);
        y[(size_t)blockIdx.x * kN + i] = sum;
    }
}

int main() {
    constexpr size_t u_size = (size_t)kN * kRank;
    constexpr size_t x_size = (size_t)kBatch * kN;
    auto d = load<float>("data/d.bin", kN);
    auto u = load<float>("data/u.bin", u_size);
    auto v = load<float>("data/v.bin", u_size);
    auto x = load<float>("data/x.bin", x_size);
    std::vector<float> y(x_size);

    float* d_d = nullptr;
    float* d_u = nullptr;
    float* d_v = nullptr;
    float* d_x = nullptr;
    float* d_y = nullptr;
    cudaMalloc(&d_d, kN * sizeof(float));
    cudaMalloc(&d_u, u_size * sizeof(float));
    cudaMalloc(&d_v, u_size * sizeof(float));
    cudaMalloc(&d_x, x_size * sizeof(float));
    cudaMalloc(&d_y, x_size * sizeof(float));
    cudaMemcpy(d_d, d.data(), kN * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_u, u.data(), u_size * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_v, v.data(), u_size * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_x, x.data(), x_size * sizeof(float), cudaMemcpyHostToDevice);

    apply_low_rank<<<kBatch, 256>>>(d_d, d_u, d_v, d_x, d_y);
    cudaMemcpy(y.data(), d_y, x_size * sizeof(float), cudaMemcpyDeviceToHost);
    store("data/y.bin", y);
    cudaFree(d_d);
    cudaFree(d_u);
    cudaFree(d_v);
    cudaFree(d_x);
    cudaFree(d_y);
    return 0;
}
