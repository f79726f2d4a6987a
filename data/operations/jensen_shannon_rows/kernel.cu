#include <cuda_runtime.h>
#include <cstdio>
#include <vector>

const int kRows = 150;
const int kBins = 100;

__device__ __forceinline__ float bits(float v, float inv_sum) {
    return v > 0.0f ? v * (1.0f + log2f(v * inv_sum)) : 0.0f;
}

// log2(p / m) = 1 + log2(p / (p + q)): one reciprocal serves both terms.
__global__ void js_divergence_warp(const float* __restrict__ p, const float* __restrict__ q,
                                   float* __restrict__ divergence) {
    const int lane = threadIdx.x & 31;
    const int row = blockIdx.x * 4 + (threadIdx.x >> 5);
    if (row >= kRows) return;
    const float* a = p + (size_t)row * kBins;
    const float* b = q + (size_t)row * kBins;
    float sum = 0.0f;
    for (int k = lane; k < kBins; k += 32) {
        const float both = a[k] + b[k];
        if (both == 0.0f) continue;
        const float inv = 1.0f / both;
        sum += bits(a[k], inv) + bits(b[k], inv);
    }
    for (int d = 16; d > 0; d >>= 1) sum += __shfl_down_sync(0xffffffffu, sum, d);
    if (lane == 0) divergence[row] = 0.5f * sum;
}

int main() {
    std::vector<float> host_p(kRows * kBins), host_q(kRows * kBins), host_divergence(kRows);
    FILE* fp = fopen("data/p.bin", "rb");
    if (!fp || fread(host_p.data(), sizeof(float), host_p.size(), fp) != host_p.size()) return 2;
    fclose(fp);
    fp = fopen("data/q.bin", "rb");
    if (!fp || fread(host_q.data(), sizeof(float), host_q.size(), fp) != host_q.size()) return 2;
    fclose(fp);
    float *d_p, *d_q, *d_divergence;
    cudaMalloc(&d_p, kRows * kBins * sizeof(float));
    cudaMalloc(&d_q, kRows * kBins * sizeof(float));
    cudaMalloc(&d_divergence, kRows * sizeof(float));
    cudaMemcpy(d_p, host_p.data(), kRows * kBins * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_q, host_q.data(), kRows * kBins * sizeof(float), cudaMemcpyHostToDevice);
    js_divergence_warp<<<(kRows + 3) / 4, 128>>>(d_p, d_q, d_divergence);
    cudaMemcpy(host_divergence.data(), d_divergence, kRows * sizeof(float), cudaMemcpyDeviceToHost);
    fp = fopen("data/divergence.bin", "wb");
    fwrite(host_divergence.data(), sizeof(float), host_divergence.size(), fp);
    fclose(fp);
    return 0;
}
