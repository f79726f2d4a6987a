#include <fstream>
#include <iostream>
#include <vector>
#include <cuda_runtime.h>

const int FRAMES = 120;
const int BINS = 128;
#define WARPS_PER_BLOCK 8

// Each warp takes one frame. Base-two logarithms are summed and scaled once: 10 log10(x) = 3.0103 log2(x).
__global__ void flatness_warps(const float* __restrict__ power, float* __restrict__ flatness) {
    int frame = blockIdx.x * WARPS_PER_BLOCK + threadIdx.x / 32;
    int lane = threadIdx.x & 31;
    if (frame >= FRAMES) return;
    const float* p = power + (size_t)frame * BINS;
    float logs = 0.0f, sum = 0.0f;
    for (int b = lane; b < BINS; b += 32) {
        float v = p[b] + 1e-10f;
        logs += log2f(v);
        sum += v;
    }
    for (int offset = 16; offset; offset /= 2) {
        logs += __shfl_down_sync(0xffffffffu, logs, offset);
        sum += __shfl_down_sync(0xffffffffu, sum, offset);
    }
    if (lane == 0) flatness[frame] = fmaxf(3.01029996f * (logs / BINS - log2f(sum / BINS)), -60.0f);
}

int main() {
    size_t n_power = FRAMES * BINS;
    std::vector<float> h_power(n_power);
    std::vector<float> h_flatness(FRAMES);
    std::ifstream in_power("data/power.bin", std::ios::binary);
    if (!in_power.read(reinterpret_cast<char*>(h_power.data()), n_power * sizeof(float))) {
        std::cerr << "failed to read data/power.bin" << std::endl;
        return 1;
    }

    float *d_power, *d_flatness;
    cudaMalloc(&d_power, n_power * sizeof(float));
    cudaMalloc(&d_flatness, FRAMES * sizeof(float));
    cudaMemcpy(d_power, h_power.data(), n_power * sizeof(float), cudaMemcpyHostToDevice);

    int blocks = (FRAMES + WARPS_PER_BLOCK - 1) / WARPS_PER_BLOCK;
    flatness_warps<<<blocks, 32 * WARPS_PER_BLOCK>>>(d_power, d_flatness);
    cudaError_t status = cudaDeviceSynchronize();
    if (status != cudaSuccess) {
        std::cerr << cudaGetErrorString(status) << std::endl;
        return 1;
    }

    cudaMemcpy(h_flatness.data(), d_flatness, FRAMES * sizeof(float), cudaMemcpyDeviceToHost);
    std::ofstream out("data/flatness.bin", std::ios::binary);
    out.write(reinterpret_cast<char*>(h_flatness.data()), FRAMES * sizeof(float));

    cudaFree(d_power);
    cudaFree(d_flatness);
    return 0;
}
