#include <fstream>
#include <vector>
#include <cuda_runtime.h>

#define BATCH 3
#define CHANNELS 8
#define PLANE 600

__global__ void dynamic_relu_planes(const float* __restrict__ x, const float4* __restrict__ coef,
        float* __restrict__ y) {
    const float4 k = coef[blockIdx.y];
    const size_t base = (size_t)blockIdx.y * PLANE;
    const int stride = blockDim.x * gridDim.x;
    for (int p = blockIdx.x * blockDim.x + threadIdx.x; p < PLANE; p += stride) {
        const float v = x[base + p];
        y[base + p] = fmaxf(fmaf(k.x, v, k.y), fmaf(k.z, v, k.w));
    }
}

int main(void) {
    const size_t size = BATCH * CHANNELS * PLANE;
    const size_t n_coef = BATCH * CHANNELS * 2 * 2;
    std::vector<float> x(size);
    std::vector<float> coef(n_coef);
    std::vector<float> y(size);
    if (!std::ifstream("data/x.bin", std::ios::binary).read((char*)x.data(), size * sizeof(float))) return 1;
    if (!std::ifstream("data/coef.bin", std::ios::binary).read((char*)coef.data(), n_coef * sizeof(float))) return 1;
    float *d_x, *d_coef, *d_y;
    cudaMalloc(&d_x, size * sizeof(float));
    cudaMalloc(&d_coef, n_coef * sizeof(float));
    cudaMalloc(&d_y, size * sizeof(float));
    cudaMemcpy(d_x, x.data(), size * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_coef, coef.data(), n_coef * sizeof(float), cudaMemcpyHostToDevice);
    dim3 grid(2, BATCH * CHANNELS);
    dynamic_relu_planes<<<grid, 256>>>(d_x, (const float4*)d_coef, d_y);
    cudaMemcpy(y.data(), d_y, size * sizeof(float), cudaMemcpyDeviceToHost);
    std::ofstream("data/y.bin", std::ios::binary).write((char*)y.data(), size * sizeof(float));
}
