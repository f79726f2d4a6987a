#include <fstream>
#include <vector>
#include <cuda_runtime.h>

const int ROWS = 30;
const int UNITS = 257;

__global__ void soft_exponential(const float* x, const float* alpha, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        float a = alpha[i % UNITS], v = x[i], r = v;
        if (a < 0.0f) r = -logf(1.0f - a * (v + a)) / a;
        else if (a > 0.0f) r = (expf(a * v) - 1.0f) / a + a;
        y[i] = r;
    }
}

int main() {
    const int n = ROWS * UNITS;
    std::vector<float> x(n);
    std::vector<float> alpha(UNITS);
    std::vector<float> y(n);
    if (!std::ifstream("data/x.bin", std::ios::binary).read((char*)x.data(), n * sizeof(float))) return 1;
    if (!std::ifstream("data/alpha.bin", std::ios::binary).read((char*)alpha.data(), UNITS * sizeof(float))) return 1;
    float *d_x = nullptr, *d_alpha = nullptr, *d_y = nullptr;
    cudaMalloc(&d_x, n * sizeof(float));
    cudaMalloc(&d_alpha, UNITS * sizeof(float));
    cudaMalloc(&d_y, n * sizeof(float));
    cudaMemcpy(d_x, x.data(), n * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_alpha, alpha.data(), UNITS * sizeof(float), cudaMemcpyHostToDevice);
    soft_exponential<<<(n + 256 - 1) / 256, 256>>>(d_x, d_alpha, d_y, n);
    cudaMemcpy(y.data(), d_y, n * sizeof(float), cudaMemcpyDeviceToHost);
    std::ofstream("data/y.bin", std::ios::binary).write((char*)y.data(), n * sizeof(float));
    cudaFree(d_x); cudaFree(d_alpha); cudaFree(d_y);
    return 0;
}
