#include <fstream>
#include <vector>
#include <cuda_runtime.h>

#define ROWS 30
#define COLS 500

// A fixed number of steps: the six reciprocals are gathered in one fraction num / den while v < 6.
__global__ void digamma_fraction(const float* __restrict__ x, float* __restrict__ psi, int n) {
    const int stride = gridDim.x * blockDim.x;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride) {
        float v = x[i];
        float num = 0.0f, den = 1.0f;
#pragma unroll
        for (int step = 0; step < 6; ++step) {
            if (v < 6.0f) {
                num = fmaf(num, v, den);
                den *= v;
                v += 1.0f;
            }
        }
        const float r = 1.0f / v;
        const float q = r * r;
        const float series = q * fmaf(-q, fmaf(-q, 1.0f / 252.0f, 1.0f / 120.0f), 1.0f / 12.0f);
        psi[i] = logf(v) - fmaf(0.5f, r, series) - num / den;
    }
}

int main(void) {
    const int n = ROWS * COLS;
    std::vector<float> x(n);
    std::vector<float> psi(n);
    if (!std::ifstream("data/x.bin", std::ios::binary).read((char*)x.data(), n * sizeof(float))) return 1;
    float *d_x, *d_psi;
    cudaMalloc(&d_x, n * sizeof(float));
    cudaMalloc(&d_psi, n * sizeof(float));
    cudaMemcpy(d_x, x.data(), n * sizeof(float), cudaMemcpyHostToDevice);
    int blocks = min((n + 256 - 1) / 256, 2048);
    digamma_fraction<<<blocks, 256>>>(d_x, d_psi, n);
    cudaMemcpy(psi.data(), d_psi, n * sizeof(float), cudaMemcpyDeviceToHost);
    std::ofstream("data/psi.bin", std::ios::binary).write((char*)psi.data(), n * sizeof(float));
    cudaFree(d_x); cudaFree(d_psi);
}
