#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>
#include <cuda_runtime.h>

void load(const std::string& path, float* dst, size_t size) {
    std::ifstream stream(path, std::ios::binary);
    stream.read(reinterpret_cast<char*>(dst), size * sizeof(float));
    if (!stream) {
        std::cerr << "could not load " << path << std::endl;
        exit(1);
    }
}

void save(const std::string& path, const float* dst, size_t size) {
    std::ofstream stream(path, std::ios::binary);
    stream.write(reinterpret_cast<const char*>(dst), size * sizeof(float));
}
//@given

const int ROWS = 50;
const int COLS = 300;

__global__ void square_length(const float* __restrict__ v, float* __restrict__ factor) {
    __shared__ float warpSum[32];
    float sum = 0.0f;
    for (int c = threadIdx.x; c < COLS; c += blockDim.x) sum = fmaf(v[c], v[c], sum);
    for (int s = 16; s > 0; s >>= 1) sum += __shfl_down_sync(0xffffffffu, sum, s);
    if (threadIdx.x % 32 == 0) warpSum[threadIdx.x / 32] = sum;
    __syncthreads();
    if (threadIdx.x < 32) {
        sum = threadIdx.x < blockDim.x / 32 ? warpSum[threadIdx.x] : 0.0f;
        for (int s = 16; s > 0; s >>= 1) sum += __shfl_down_sync(0xffffffffu, sum, s);
        if (threadIdx.x == 0) *factor = 2.0f / sum;
    }
}

// One warp per row.
__global__ void reflect_warps(const float* __restrict__ a, const float* __restrict__ v,
                              const float* __restrict__ factor, float* __restrict__ reflected) {
    const int row = blockIdx.x * 8 + threadIdx.x / 32;
    const int lane = threadIdx.x % 32;
    if (row >= ROWS) return;
    const float* src = a + (size_t)row * COLS;
    float* dst = reflected + (size_t)row * COLS;
    float sum = 0.0f;
    for (int c = lane; c < COLS; c += 32) sum = fmaf(src[c], v[c], sum);
    for (int s = 16; s > 0; s >>= 1) sum += __shfl_xor_sync(0xffffffffu, sum, s);
    const float k = -sum * *factor;
    for (int c = lane; c < COLS; c += 32) dst[c] = fmaf(k, v[c], src[c]);
}

int main() {
    const size_t a_count = (size_t)ROWS * COLS;
    float* h_a = new float[a_count];
    float* h_v = new float[COLS];
    float* h_reflected = new float[a_count];
    load("data/a.bin", h_a, a_count);
    load("data/v.bin", h_v, COLS);

    float* d_a;
    cudaMalloc(&d_a, a_count * sizeof(float));
    float* d_v;
    cudaMalloc((void**)&d_v, COLS * sizeof(float));
    float* d_reflected;
    cudaMalloc(&d_reflected, a_count * sizeof(float));
    float* d_factor;
    cudaMalloc(&d_factor, 1 * sizeof(float));
    cudaMemcpy(d_a, h_a, a_count * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_v, h_v, COLS * sizeof(float), cudaMemcpyHostToDevice);

    square_length<<<1, 1024>>>(d_v, d_factor);
    reflect_warps<<<(ROWS + 7) / 8, 256>>>(d_a, d_v, d_factor, d_reflected);

    cudaMemcpy(h_reflected, d_reflected, a_count * sizeof(float), cudaMemcpyDeviceToHost);
    save("data/reflected.bin", h_reflected, a_count);

    cudaFree(d_a);
    cudaFree(d_v);
    cudaFree(d_reflected);
    cudaFree(d_factor);
    delete[] h_a;
    delete[] h_v;
    delete[] h_reflected;
    return 0;
}
