#include <fstream>
#include <iostream>
#include <vector>
#include <cuda_runtime.h>

const int N = 20000;

__global__ void symlog_symexp(const float* x, const float* z, float* compressed, float* expanded, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        compressed[i] = copysignf(log1pf(fabsf(x[i])), x[i]);
        expanded[i] = copysignf(expm1f(fabsf(z[i])), z[i]);
    }
}

void compute(const float* d_x, const float* d_z, float* d_compressed, float* d_expanded) {
    int threads = 256;
    symlog_symexp<<<(N + threads - 1) / threads, threads>>>(d_x, d_z, d_compressed, d_expanded, N);
}

int main() {
    size_t bytes = N * sizeof(float);
    std::vector<float> x(N);
    std::vector<float> z(N);
    std::vector<float> compressed(N);
    std::vector<float> expanded(N);
    std::ifstream x_file("data/x.bin", std::ios::binary);
    if (!x_file.read(reinterpret_cast<char*>(x.data()), bytes)) {
        std::cerr << "cannot read data/x.bin" << std::endl;
        return 1;
    }
    std::ifstream z_file("data/z.bin", std::ios::binary);
    if (!z_file.read(reinterpret_cast<char*>(z.data()), bytes)) {
        std::cerr << "cannot read data/z.bin" << std::endl;
        return 1;
    }

    float *d_x = nullptr, *d_z = nullptr, *d_compressed = nullptr, *d_expanded = nullptr;
    cudaMalloc(&d_x, bytes);
    cudaMalloc(&d_z, bytes);
    cudaMalloc(&d_compressed, bytes);
    cudaMalloc(&d_expanded, bytes);
    cudaMemcpy(d_x, x.data(), bytes, cudaMemcpyHostToDevice);
    cudaMemcpy(d_z, z.data(), bytes, cudaMemcpyHostToDevice);

    compute(d_x, d_z, d_compressed, d_expanded);
    if (cudaGetLastError() != cudaSuccess) {
        std::cerr << "kernel launch failed" << std::endl;
        return 1;
    }
    cudaMemcpy(compressed.data(), d_compressed, bytes, cudaMemcpyDeviceToHost);
    cudaMemcpy(expanded.data(), d_expanded, bytes, cudaMemcpyDeviceToHost);
    std::ofstream out_compressed("data/compressed.bin", std::ios::binary);
    out_compressed.write(reinterpret_cast<const char*>(compressed.data()), bytes);
    std::ofstream out_expanded("data/expanded.bin", std::ios::binary);
    out_expanded.write(reinterpret_cast<const char*>(expanded.data()), bytes);
    cudaFree(d_x);
    cudaFree(d_z);
    cudaFree(d_compressed);
    cudaFree(d_expanded);
    return 0;
}
