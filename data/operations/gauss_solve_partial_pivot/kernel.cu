#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>
#include <cuda_runtime.h>

void read_data(const std::string& path, float* buffer, size_t count) {
    std::ifstream file(path, std::ios::binary);
    file.read(reinterpret_cast<char*>(buffer), count * sizeof(float));
    if (!file) {
        std::cerr << "could not load " << path << std::endl;
        exit(1);
    }
}

void write_data(const std::string& path, const float* buffer, size_t count) {
    std::ofstream file(path, std::ios::binary);
    file.write(reinterpret_cast<const char*>(buffer), count * sizeof(float));
}
//@given

constexpr int kBatch = 25;
constexpr int kN = 24;
constexpr int kWidth = kN + 1;
constexpr int kThreads = 128;

// Rows stay where they are: order[] says which row serves at which step. Gauss-Jordan makes the last phase a division.
__global__ void gauss_jordan(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ x) {
    __shared__ float m[kN * kWidth];
    __shared__ float factor[kN];
    __shared__ int order[kN];
    const int t = threadIdx.x;
    for (int e = t; e < kN * kN; e += kThreads) m[e / kN * kWidth + e % kN] = a[(size_t)blockIdx.x * kN * kN + e];
    for (int i = t; i < kN; i += kThreads) {
        m[i * kWidth + kN] = b[blockIdx.x * kN + i];
        order[i] = i;
    }
    __syncthreads();
    for (int k = 0; k < kN; ++k) {
        if (t == 0) {
            int best = k;
            float size = fabsf(m[order[k] * kWidth + k]);
            for (int i = k + 1; i < kN; ++i) {
                const float v = fabsf(m[order[i] * kWidth + k]);
                if (v > size) { size = v; best = i; }
            }
            const int keep = order[k];
            order[k] = order[best];
            order[best] = keep;
        }
        __syncthreads();
        const int p = order[k];
        const float inv = 1.0f / m[p * kWidth + k];
        for (int i = t; i < kN; i += kThreads) factor[i] = i == p ? 0.0f : m[i * kWidth + k] * inv;
        __syncthreads();
        const int cols = kN + 1 - k;
        for (int e = t; e < kN * cols; e += kThreads) {
            const int i = e / cols, j = k + e % cols;
            if (i != p) m[i * kWidth + j] = fmaf(-factor[i], m[p * kWidth + j], m[i * kWidth + j]);
        }
        __syncthreads();
    }
    for (int k = t; k < kN; k += kThreads) {
        const float* row = m + order[k] * kWidth;
        x[blockIdx.x * kN + k] = row[kN] / row[k];
    }
}

int main() {
    const size_t count_a = (size_t)kBatch * kN * kN;
    const size_t count_b = (size_t)kBatch * kN;
    float* h_a = new float[count_a];
    float* h_b = new float[count_b];
    float* h_x = new float[count_b];
    read_data("data/a.bin", h_a, count_a);
    read_data("data/b.bin", h_b, count_b);

    float* d_a;
    cudaMalloc(&d_a, count_a * sizeof(float));
    float* d_b;
    cudaMalloc(&d_b, count_b * sizeof(float));
    float* d_x;
    cudaMalloc(&d_x, count_b * sizeof(float));
    cudaMemcpy(d_a, h_a, count_a * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_b, h_b, count_b * sizeof(float), cudaMemcpyHostToDevice);

    gauss_jordan<<<kBatch, kThreads>>>(d_a, d_b, d_x);

    cudaMemcpy(h_x, d_x, count_b * sizeof(float), cudaMemcpyDeviceToHost);
    write_data("data/x.bin", h_x, count_b);

    delete[] h_a;
    delete[] h_b;
    delete[] h_x;
    cudaFree(d_a);
    cudaFree(d_b);
    cudaFree(d_x);
    return 0;
}
