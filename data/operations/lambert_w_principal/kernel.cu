#include <cuda_runtime.h>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>
#include <vector>

template <typename T>
std::vector<T> read_vector(const std::string& path, size_t count) {
    std::vector<T> values(count);
    std::ifstream file(path, std::ios::binary);
    file.read(reinterpret_cast<char*>(values.data()), count * sizeof(T));
    if (!file) {
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

constexpr int kN = 10000;

// f is divided by exp(w), so that large arguments do not produce large intermediates; stops when settled.
__device__ float solve_w(float x) {
    float w = x > 3.0f ? logf(x) - logf(logf(x)) : log1pf(x);
    for (int step = 0; step < 8; ++step) {
        const float g = w - x * expf(-w);
        const float change = g / (w + 1.0f - (w + 2.0f) * g / (2.0f * w + 2.0f));
        w -= change;
        if (fabsf(change) <= 1e-7f * fabsf(w)) break;
    }
    return w;
}

__global__ void lambert_w_strided(const float* __restrict__ x, float* __restrict__ w, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) w[i] = solve_w(x[i]);
}

int main(void) {
    constexpr size_t bytes = kN * sizeof(float);
    auto h_x = read_vector<float>("data/x.bin", kN);
    std::vector<float> h_w(kN);

    float *d_x = nullptr, *d_w = nullptr;
    cudaMalloc(&d_x, bytes);
    cudaMalloc(&d_w, bytes);
    cudaMemcpy(d_x, h_x.data(), bytes, cudaMemcpyHostToDevice);

    lambert_w_strided<<<min((kN + 128 - 1) / 128, 4096), 128>>>(d_x, d_w, kN);
    if (auto status = cudaGetLastError(); status != cudaSuccess) {
        std::cerr << cudaGetErrorString(status) << "\n";
        return 1;
    }

    cudaMemcpy(h_w.data(), d_w, bytes, cudaMemcpyDeviceToHost);
    write_vector("data/w.bin", h_w);
    cudaFree(d_w);
    cudaFree(d_x);
    return 0;
}
