#include <cuda_runtime.h>
#include <fstream>
#include <iostream>
#include <vector>

constexpr int kBatch = 8;
constexpr int kM = 15;
constexpr int kN = 21;

__global__ void multiply_left(const float* a, const float* x, float* t) {
    int idx = blockIdx.x * blockDim.x + threadIdx.x;
    if (idx >= kBatch * kM * kN) return;
    int v = idx % kN;
    int i = idx / kN % kM;
    const float* slab = x + idx / (kM * kN) * (kM * kN);
    float sum = 0.0f;
    for (int j = 0; j < kM; ++j) sum += a[i * kM + j] * slab[j * kN + v];
    t[idx] = sum;
}

__global__ void multiply_right(const float* b, const float* t, float* y) {
    int idx = blockIdx.x * blockDim.x + threadIdx.x;
    if (idx >= kBatch * kM * kN) return;
    int u = idx % kN;
    const float* row = t + (idx - u);
    float sum = 0.0f;
    for (int v = 0; v < kN; ++v) sum += b[u * kN + v] * row[v];
    y[idx] = sum;
}

void run(const float* d_a, const float* d_b, const float* d_x, float* d_y, float* d_half) {
    const int threads = 256;
    const int blocks = (kBatch * kM * kN + threads - 1) / threads;
    multiply_left<<<blocks, threads>>>(d_a, d_x, d_half);
    multiply_right<<<blocks, threads>>>(d_b, d_half, d_y);
}

int main() {
    const size_t a_elems = (size_t)kM * kM;
    const size_t b_elems = (size_t)kN * kN;
    const size_t x_elems = (size_t)kBatch * kM * kN;
    std::vector<float> host_a(a_elems);
    std::vector<float> host_b(b_elems);
    std::vector<float> host_x(x_elems);
    std::vector<float> host_y(x_elems);
    std::ifstream a_in("data/a.bin", std::ios::binary);
    if (!a_in.read(reinterpret_cast<char*>(host_a.data()), a_elems * sizeof(float))) {
        std::cerr << "data/a.bin is missing or short\n";
        return 1;
    }
    std::ifstream b_in("data/b.bin", std::ios::binary);
    if (!b_in.read(reinterpret_cast<char*>(host_b.data()), b_elems * sizeof(float))) {
        std::cerr << "data/b.bin is missing or short\n";
        return 1;
    }
    std::ifstream x_in("data/x.bin", std::ios::binary);
    if (!x_in.read(reinterpret_cast<char*>(host_x.data()), x_elems * sizeof(float))) {
        std::cerr << "data/x.bin is missing or short\n";
        return 1;
    }

    float *d_a, *d_b, *d_x, *d_y, *d_half;
    cudaMalloc(&d_a, a_elems * sizeof(float));
    cudaMalloc(&d_b, b_elems * sizeof(float));
    cudaMalloc(&d_x, x_elems * sizeof(float));
    cudaMalloc(&d_y, x_elems * sizeof(float));
    cudaMalloc(&d_half, x_elems * sizeof(float));
    cudaMemcpy(d_a, host_a.data(), a_elems * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_b, host_b.data(), b_elems * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_x, host_x.data(), x_elems * sizeof(float), cudaMemcpyHostToDevice);
    run(d_a, d_b, d_x, d_y, d_half);
    if (cudaDeviceSynchronize() != cudaSuccess) {
        std::cerr << "GPU error\n";
        return 1;
    }
    cudaMemcpy(host_y.data(), d_y, x_elems * sizeof(float), cudaMemcpyDeviceToHost);

    std::ofstream y_out("data/y.bin", std::ios::binary);
    y_out.write(reinterpret_cast<const char*>(host_y.data()), x_elems * sizeof(float));
    cudaFree(d_a);
    cudaFree(d_b);
    cudaFree(d_x);
    cudaFree(d_y);
    cudaFree(d_half);
    return 0;
}
