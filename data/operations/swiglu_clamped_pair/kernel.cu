#include <fstream>
#include <iostream>
#include <string>
#include <vector>

#include <cuda_runtime.h>

template <typename T>
std::vector<T> read_vector(const std::string& path, size_t count) {
    std::ifstream file(path, std::ios::binary);
    std::vector<T> values(count);
    if (!file.read(reinterpret_cast<char*>(values.data()), count * sizeof(T))) {
        std::cerr << "bad file " << path << std::endl;
        exit(1);
    }
    return values;
}

template <typename T>
void write_vector(const std::string& path, const std::vector<T>& values) {
    std::ofstream out(path, std::ios::binary);
    out.write(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T));
}
//@given

constexpr int kTokens = 20;
constexpr int kDim = 400;

__device__ __forceinline__ float combine(float gate, float up) {
    const float g = fminf(gate, 7.0f);
    const float u = fmaxf(-7.0f, fminf(up, 7.0f));
    return fmaf(u, g, g) / (1.0f + __expf(-1.702f * g));
}

__global__ void clamped_swiglu2(const float *__restrict__ gate, const float *__restrict__ up, float *__restrict__ y,
                                int n) {
    const int i = 2 * (blockIdx.x * blockDim.x + threadIdx.x);
    if (i + 1 < n) {
        const float2 g = *reinterpret_cast<const float2*>(gate + i);
        const float2 u = *reinterpret_cast<const float2*>(up + i);
        *reinterpret_cast<float2*>(y + i) = make_float2(combine(g.x, u.x), combine(g.y, u.y));
    } else if (i < n) {
        y[i] = combine(gate[i], up[i]);
    }
}

int main(void) {
    constexpr int n = kTokens * kDim;
    auto h_gate = read_vector<float>("data/gate.bin", n);
    auto h_up = read_vector<float>("data/up.bin", n);
    std::vector<float> h_y(n);

    float *d_gate = nullptr, *d_up = nullptr, *d_y = nullptr;
    cudaMalloc(&d_gate, n * sizeof(float));
    cudaMalloc(&d_up, n * sizeof(float));
    cudaMalloc(&d_y, n * sizeof(float));
    cudaMemcpy(d_gate, h_gate.data(), n * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_up, h_up.data(), n * sizeof(float), cudaMemcpyHostToDevice);

    const int pairs = (n + 1) / 2;
    clamped_swiglu2<<<(pairs + 256 - 1) / 256, 256>>>(d_gate, d_up, d_y, n);
    if (auto err = cudaDeviceSynchronize(); err != cudaSuccess) {
        std::cerr << cudaGetErrorString(err) << std::endl;
        return 1;
    }

    cudaMemcpy(h_y.data(), d_y, n * sizeof(float), cudaMemcpyDeviceToHost);
    write_vector("data/y.bin", h_y);

    cudaFree(d_gate);
    cudaFree(d_up);
    cudaFree(d_y);
    return 0;
}
