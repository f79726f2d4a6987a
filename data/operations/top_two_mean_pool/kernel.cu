#include <cmath>
#include <fstream>
#include <iostream>
#include <vector>
#include <cuda_runtime.h>

constexpr int PLANES = 3;
constexpr int HEIGHT = 70;
constexpr int WIDTH = 61;
constexpr int OUT_H = (HEIGHT + 2) / 3;
constexpr int OUT_W = (WIDTH + 2) / 3;
constexpr int BLOCK = 96;

// Each thread finds the two largest of one input column, then thirds are merged.
__global__ void top_two_columns(const float* __restrict__ x, float* __restrict__ pooled, float* __restrict__ gap) {
    __shared__ float large[BLOCK], small[BLOCK];
    const int t = threadIdx.x;
    const int c = blockIdx.x * BLOCK + t;
    const int i = blockIdx.y;
    const size_t plane = blockIdx.z;
    float a = -INFINITY, b = -INFINITY;
    if (c < WIDTH) {
        const float* p = x + plane * HEIGHT * WIDTH + c;
        for (int r = 3 * i; r < min(3 * i + 3, HEIGHT); ++r) {
            const float v = p[r * WIDTH];
            b = fmaxf(b, fminf(a, v));
            a = fmaxf(a, v);
        }
    }
    large[t] = a;
    small[t] = b;
    __syncthreads();
    const int j = blockIdx.x * (BLOCK / 3) + t;
    if (t >= BLOCK / 3 || j >= OUT_W) return;
    a = large[3 * t];
    b = small[3 * t];
    for (int k = 3 * t + 1; k < 3 * t + 3; ++k) {
        b = fmaxf(fmaxf(b, small[k]), fminf(a, large[k]));
        a = fmaxf(a, large[k]);
    }
    if (b == -INFINITY) b = a;
    const size_t at = (plane * OUT_H + i) * OUT_W + j;
    pooled[at] = 0.5f * (a + b);
    gap[at] = a - b;
}

void run(const float* d_x, float* d_pooled, float* d_gap) {
    dim3 grid((WIDTH + BLOCK - 1) / BLOCK, OUT_H, PLANES);
    top_two_columns<<<grid, BLOCK>>>(d_x, d_pooled, d_gap);
}

int main() {
    const size_t n_x = PLANES * HEIGHT * WIDTH;
    const size_t n_pooled = (size_t)PLANES * ((HEIGHT + 2) / 3) * ((WIDTH + 2) / 3);
    std::vector<float> x(n_x);
    std::vector<float> pooled(n_pooled);
    std::vector<float> gap(n_pooled);
    if (!std::ifstream("data/x.bin", std::ios::binary)
             .read((char*)x.data(), n_x * sizeof(float))) {
        std::cerr << "data/x.bin is missing or short\n";
        return 1;
    }

    float *d_x, *d_pooled, *d_gap;
    cudaMalloc(&d_x, n_x * sizeof(float));
    cudaMalloc(&d_pooled, n_pooled * sizeof(float));
    cudaMalloc(&d_gap, n_pooled * sizeof(float));
    cudaMemcpy(d_x, x.data(), n_x * sizeof(float), cudaMemcpyHostToDevice);
    run(d_x, d_pooled, d_gap);
    cudaMemcpy(pooled.data(), d_pooled, n_pooled * sizeof(float), cudaMemcpyDeviceToHost);
    cudaMemcpy(gap.data(), d_gap, n_pooled * sizeof(float), cudaMemcpyDeviceToHost);
    cudaError_t err = cudaGetLastError();
    if (err != cudaSuccess) {
        std::cerr << cudaGetErrorString(err) << "\n";
        return 1;
    }
    std::ofstream("data/pooled.bin", std::ios::binary)
        .write((const char*)pooled.data(), n_pooled * sizeof(float));
    std::ofstream("data/gap.bin", std::ios::binary)
        .write((const char*)gap.data(), n_pooled * sizeof(float));
    cudaFree(d_x);
    cudaFree(d_pooled);
    cudaFree(d_gap);
    return 0;
}
