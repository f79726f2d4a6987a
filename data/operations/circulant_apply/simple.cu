#include <cuda_runtime.h>
#include <fstream>
#include <iostream>
#include <vector>

#define BATCH 20
#define N 100

__global__ void circulant(const float* c, const float* x, float* y) {
    int idx = blockIdx.x * blockDim.x + threadIdx.x;
    if (idx < BATCH * N) {
        int i = idx % N;
        const float* row = x + (idx - i);
        float sum = 0.0f;
        for (int j = 0; j < N; ++j) {
            int k = i - j;
            if (k < 0) k += N;
            sum += c[k] * row[j];
        }
        y[idx] = sum;
    }
}

int main() {
    const size_t n_x = (size_t)BATCH * N;
    std::vector<float> c(N), x(n_x), y(n_x);
    std::ifstream in_c("data/c.bin", std::ios::binary);
    if (!in_c.read((char*)c.data(), N * sizeof(float))) { std::cerr << "data/c.bin\n"; return 1; }
    std::ifstream in_x("data/x.bin", std::ios::binary);
    if (!in_x.read((char*)x.data(), n_x * sizeof(float))) { std::cerr << "data/x.bin\n"; return 1; }
    float *d_c, *d_x, *d_y;
    cudaMalloc(&d_c, N * sizeof(float));
    cudaMalloc(&d_x, n_x * sizeof(float));
    cudaMalloc(&d_y, n_x * sizeof(float));
    cudaMemcpy(d_c, c.data(), N * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_x, x.data(), n_x * sizeof(float), cudaMemcpyHostToDevice);
    circulant<<<(BATCH * N + 127) / 128, 128>>>(d_c, d_x, d_y);
    cudaMemcpy(y.data(), d_y, n_x * sizeof(float), cudaMemcpyDeviceToHost);
    std::ofstream("data/y.bin", std::ios::binary).write((char*)y.data(), n_x * sizeof(float));
}
