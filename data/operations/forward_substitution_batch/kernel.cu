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

constexpr int kBatch = 30;
constexpr int kN = 40;
constexpr int kWarps = 4;

// One warp per system; rows are read along their length and the inner sum is made with shuffles.
__global__ void forward_warps(const float* __restrict__ l, const float* __restrict__ b, float* __restrict__ x) {
    __shared__ float known[kWarps][kN];
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const int system = blockIdx.x * kWarps + warp;
    if (system >= kBatch) return;
    float* xs = known[warp];
    for (int i = 0; i < kN; ++i) {
        const float* row = l + ((size_t)system * kN + i) * kN;
        float sum = 0.0f;
        for (int j = lane; j < i; j += 32) sum = fmaf(row[j], xs[j], sum);
        for (int d = 16; d > 0; d >>= 1) sum += __shfl_down_sync(0xffffffffu, sum, d);
        if (lane == 0) xs[i] = (b[system * kN + i] - sum) / row[i];
        __syncwarp();
    }
    for (int i = lane; i < kN; i += 32) x[system * kN + i] = xs[i];
}

int main() {
    constexpr size_t n_l = (size_t)kBatch * kN * kN;
    constexpr size_t n_b = (size_t)kBatch * kN;
    auto h_l = read_vector<float>("data/l.bin", n_l);
    auto h_b = read_vector<float>("data/b.bin", n_b);
    std::vector<float> h_x(n_b);

    float* d_l = nullptr;
    float* d_b = nullptr;
    float* d_x = nullptr;
    cudaMalloc(&d_l, n_l * sizeof(float));
    cudaMalloc(&d_b, n_b * sizeof(float));
    cudaMalloc(&d_x, n_b * sizeof(float));
    cudaMemcpy(d_l, h_l.data(), n_l * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_b, h_b.data(), n_b * sizeof(float), cudaMemcpyHostToDevice);

    forward_warps<<<(kBatch + kWarps - 1) / kWarps, 32 * kWarps>>>(d_l, d_b, d_x);
    cudaMemcpy(h_x.data(), d_x, n_b * sizeof(float), cudaMemcpyDeviceToHost);
    write_vector("data/x.bin", h_x);
    cudaFree(d_l);
    cudaFree(d_b);
    cudaFree(d_x);
    return 0;
}
