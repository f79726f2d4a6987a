#include <cuda_runtime.h>
#include <fstream>
#include <iostream>
#include <vector>

constexpr int kRows = 40;
constexpr int kUnits = 250;
constexpr int kCount = kRows * kUnits;

__global__ void hermite_units(const float* x, const float* coef, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        int u = i % kUnits;
        float t = x[i];
        float previous = 1.0f;
        float current = t;
        float sum = coef[u] + coef[kUnits + u] * t;
        for (int k = 1; k < 4; ++k) {
            float next = t * current - k * previous;
            previous = current;
            current = next;
            sum += coef[(k + 1) * kUnits + u] * current;
        }
        y[i] = sum;
    }
}

int main(void) {
    const int n_coef = 5 * kUnits;
    std::vector<float> h_x(kCount);
    std::vector<float> h_coef(n_coef);
    std::vector<float> h_y(kCount);
    std::ifstream in_x("data/x.bin", std::ios::binary);
    in_x.read((char*)h_x.data(), kCount * sizeof(float));
    if (!in_x) {
        std::cerr << "missing or incomplete file data/x.bin" << std::endl;
        return 1;
    }
    std::ifstream coef_file("data/coef.bin", std::ios::binary);
    coef_file.read((char*)h_coef.data(), n_coef * sizeof(float));
    if (!coef_file) {
        std::cerr << "could not read data/coef.bin" << std::endl;
        return 1;
    }

    float *d_x = nullptr, *d_coef = nullptr, *d_y = nullptr;
    cudaMalloc(&d_x, kCount * sizeof(float));
    cudaMalloc(&d_coef, n_coef * sizeof(float));
    cudaMalloc(&d_y, kCount * sizeof(float));
    cudaMemcpy(d_x, h_x.data(), kCount * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_coef, h_coef.data(), n_coef * sizeof(float), cudaMemcpyHostToDevice);
    const int threads = 256;
    const int blocks = (kCount + threads - 1) / threads;
    hermite_units<<<blocks, threads>>>(d_x, d_coef, d_y, kCount);
    cudaError_t err = cudaGetLastError();
    if (err != cudaSuccess) {
        std::cerr << "GPU: " << cudaGetErrorString(err) << std::endl;
        return 1;
    }

    cudaMemcpy(h_y.data(), d_y, kCount * sizeof(float), cudaMemcpyDeviceToHost);
    std::ofstream output("data/y.bin", std::ios::binary);
    output.write((char*)h_y.data(), kCount * sizeof(float));

    cudaFree(d_x);
    cudaFree(d_coef);
    cudaFree(d_y);
    return 0;
}
