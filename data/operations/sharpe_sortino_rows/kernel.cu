#include <cuda_runtime.h>
#include <fstream>
#include <iostream>
#include <vector>

constexpr int kFunds = 60;
constexpr int kDays = 250;
constexpr int kWarps = 8;

__device__ float warp_sum(float v) {
    for (int s = 16; s > 0; s >>= 1) v += __shfl_xor_sync(0xffffffffu, v, s);
    return v;
}

// One warp for each fund, so no barrier is needed; the second pass reads the row from the cache.
__global__ void ratios_warp(const float* __restrict__ returns, const float* __restrict__ risk_free,
                            float* __restrict__ sharpe, float* __restrict__ sortino) {
    const int fund = blockIdx.x * kWarps + threadIdx.y;
    if (fund >= kFunds) return;
    const float* row = returns + (size_t)fund * kDays;
    float sum = 0.0f, down = 0.0f;
    for (int t = threadIdx.x; t < kDays; t += 32) {
        const float e = row[t] - risk_free[t];
        const float m = fminf(e, 0.0f);
        sum += e;
        down = fmaf(m, m, down);
    }
    const float mean = warp_sum(sum) / (float)kDays;
    down = warp_sum(down);
    float squares = 0.0f;
    for (int t = threadIdx.x; t < kDays; t += 32) {
        const float e = row[t] - risk_free[t] - mean;
        squares = fmaf(e, e, squares);
    }
    squares = warp_sum(squares);
    if (threadIdx.x == 0) {
        const float scaled = 15.8745079f * mean;
        sharpe[fund] = scaled * rsqrtf(squares / (float)(kDays - 1));
        sortino[fund] = scaled * rsqrtf(down / (float)kDays);
    }
}

int main() {
    const size_t total = (size_t)kFunds * kDays;
    std::vector<float> h_returns(total);
    std::vector<float> h_risk_free(kDays);
    std::vector<float> h_sharpe(kFunds);
    std::vector<float> h_sortino(kFunds);
    std::ifstream returns_file("data/returns.bin", std::ios::binary);
    returns_file.read((char*)h_returns.data(), total * sizeof(float));
    if (!returns_file) {
        std::cerr << "cannot read data/returns.bin\n";
        return 1;
    }
    std::ifstream risk_free_file("data/risk_free.bin", std::ios::binary);
    risk_free_file.read((char*)h_risk_free.data(), kDays * sizeof(float));
    if (!risk_free_file) {
        std::cerr << "cannot read data/risk_free.bin\n";
        return 1;
    }

    float *d_returns, *d_risk_free, *d_sharpe, *d_sortino;
    cudaMalloc(&d_returns, total * sizeof(float));
    cudaMalloc(&d_risk_free, kDays * sizeof(float));
    cudaMalloc(&d_sharpe, kFunds * sizeof(float));
    cudaMalloc(&d_sortino, kFunds * sizeof(float));

    cudaMemcpy(d_returns, h_returns.data(), total * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_risk_free, h_risk_free.data(), kDays * sizeof(float), cudaMemcpyHostToDevice);

    ratios_warp<<<(kFunds + kWarps - 1) / kWarps, dim3(32, kWarps)>>>(d_returns, d_risk_free, d_sharpe,
            d_sortino);
    cudaError_t result = cudaDeviceSynchronize();
    if (result != cudaSuccess) {
        std::cerr << "kernel failed: " << cudaGetErrorString(result) << std::endl;
        return 1;
    }
    cudaMemcpy(h_sharpe.data(), d_sharpe, kFunds * sizeof(float), cudaMemcpyDeviceToHost);
    cudaMemcpy(h_sortino.data(), d_sortino, kFunds * sizeof(float), cudaMemcpyDeviceToHost);

    std::ofstream sharpe_file("data/sharpe.bin", std::ios::binary);
    sharpe_file.write((const char*)h_sharpe.data(), kFunds * sizeof(float));
    std::ofstream sortino_file("data/sortino.bin", std::ios::binary);
    sortino_file.write((const char*)h_sortino.data(), kFunds * sizeof(float));

    cudaFree(d_returns);
    cudaFree(d_risk_free);
    cudaFree(d_sharpe);
    cudaFree(d_sortino);
    return 0;
}
