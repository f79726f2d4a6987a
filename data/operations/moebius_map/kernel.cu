#include <fstream>
#include <iostream>
#include <vector>
#include <cuda_runtime.h>

constexpr int kMaps = 5;
constexpr int kPoints = 1200;

__device__ float2 mul_add(float2 a, float2 z, float2 b) {
    return make_float2(fmaf(a.x, z.x, fmaf(-a.y, z.y, b.x)), fmaf(a.x, z.y, fmaf(a.y, z.x, b.y)));
}

// A thread holds one point and goes through all transformations, whose coefficients lie in shared memory.
__global__ void moebius_all(const float2* __restrict__ z, const float* __restrict__ coef, float2* __restrict__ w) {
    __shared__ float2 k[4 * kMaps];
    for (int i = threadIdx.x; i < 4 * kMaps; i += blockDim.x) k[i] = make_float2(coef[2 * i], coef[2 * i + 1]);
    __syncthreads();
    const int p = blockIdx.x * blockDim.x + threadIdx.x;
    if (p >= kPoints) return;
    const float2 v = z[p];
    for (int m = 0; m < kMaps; ++m) {
        const float2 top = mul_add(k[4 * m], v, k[4 * m + 1]);
        const float2 low = mul_add(k[4 * m + 2], v, k[4 * m + 3]);
        const float inv = 1.0f / fmaf(low.x, low.x, low.y * low.y);
        w[(size_t)m * kPoints + p] = make_float2((top.x * low.x + top.y * low.y) * inv,
                                                  (top.y * low.x - top.x * low.y) * inv);
    }
}

int main() {
    const size_t z_size = kPoints * 2;
    const size_t coef_count = kMaps * 8;
    const int n_w = kMaps * kPoints * 2;
    std::vector<float> h_z(z_size);
    std::vector<float> h_coef(coef_count);
    std::vector<float> h_w(n_w);
    std::ifstream z_file("data/z.bin", std::ios::binary);
    z_file.read((char*)h_z.data(), z_size * sizeof(float));
    if (!z_file) {
        std::cerr << "failed to read data/z.bin" << std::endl;
        return 1;
    }
    std::ifstream coef_file("data/coef.bin", std::ios::binary);
    coef_file.read((char*)h_coef.data(), coef_count * sizeof(float));
    if (!coef_file) {
        std::cerr << "could not read data/coef.bin" << std::endl;
        return 1;
    }

    float* d_z;
    float* d_coef;
    float* d_w;
    cudaMalloc(&d_z, z_size * sizeof(float));
    cudaMalloc(&d_coef, coef_count * sizeof(float));
    cudaMalloc(&d_w, n_w * sizeof(float));
    cudaMemcpy(d_z, h_z.data(), z_size * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_coef, h_coef.data(), coef_count * sizeof(float), cudaMemcpyHostToDevice);

    moebius_all<<<(kPoints + 128 - 1) / 128, 128>>>((const float2*)d_z, d_coef, (float2*)d_w);
    cudaError_t status = cudaGetLastError();
    if (status != cudaSuccess) {
        std::cerr << "CUDA error: " << cudaGetErrorString(status) << std::endl;
        return 1;
    }

    cudaMemcpy(h_w.data(), d_w, n_w * sizeof(float), cudaMemcpyDeviceToHost);
    std::ofstream output("data/w.bin", std::ios::binary);
    output.write((char*)h_w.data(), n_w * sizeof(float));

    cudaFree(d_z);
    cudaFree(d_coef);
    cudaFree(d_w);
    return 0;
}
