#include <fstream>
#include <iostream>
#include <vector>
#include <cuda_runtime.h>

constexpr int kPortfolios = 100;
constexpr int kAssets = 40;
const int kBlock = 128;
const int kGroup = 4;

// Four portfolios a block share every covariance value; symmetry lets threads read it along its rows.
__global__ void risk_groups(const float* __restrict__ weights, const float* __restrict__ covariance,
                            float* __restrict__ volatility, float* __restrict__ contribution) {
    __shared__ float w[kAssets][kGroup];
    __shared__ float part[kAssets][kGroup];
    int t = threadIdx.x, first = blockIdx.x * kGroup;
    for (int e = t; e < kAssets * kGroup; e += kBlock) {
        int q = e / kAssets, j = e % kAssets;
        w[j][q] = first + q < kPortfolios ? weights[(size_t)(first + q) * kAssets + j] : 0.0f;
    }
    __syncthreads();
    for (int j = t; j < kAssets; j += kBlock) {
        float g[kGroup] = {};
        for (int k = 0; k < kAssets; ++k) {
            float c = covariance[k * kAssets + j];
            for (int q = 0; q < kGroup; ++q) g[q] += c * w[k][q];
        }
        for (int q = 0; q < kGroup; ++q) part[j][q] = g[q] * w[j][q];
    }
    __syncthreads();
    // Each of the four warps finishes one portfolio.
    int q = t / 32, lane = t % 32;
    float v = 0.0f;
    for (int j = lane; j < kAssets; j += 32) v += part[j][q];
    for (int s = 16; s > 0; s /= 2) v += __shfl_xor_sync(0xffffffffu, v, s);
    int p = first + q;
    if (p < kPortfolios) {
        for (int j = lane; j < kAssets; j += 32) contribution[(size_t)p * kAssets + j] = part[j][q] / v;
        if (lane == 0) volatility[p] = sqrtf(v);
    }
}

void solve(const float* d_weights, const float* d_covariance, float* d_volatility, float* d_contribution) {
    risk_groups<<<(kPortfolios + kGroup - 1) / kGroup, kBlock>>>(d_weights, d_covariance, d_volatility,
        d_contribution);
}

int main() {
    std::vector<float> h_weights(kPortfolios * kAssets);
    std::vector<float> h_covariance(kAssets * kAssets);
    std::vector<float> h_volatility(kPortfolios);
    std::vector<float> h_contribution(kPortfolios * kAssets);
    std::ifstream in_weights("data/weights.bin", std::ios::binary);
    if (!in_weights.read(reinterpret_cast<char*>(h_weights.data()), kPortfolios * kAssets * sizeof(float))) {
        std::cerr << "cannot read data/weights.bin" << std::endl;
        return 1;
    }
    std::ifstream in_covariance("data/covariance.bin", std::ios::binary);
    if (!in_covariance.read(reinterpret_cast<char*>(h_covariance.data()), kAssets * kAssets * sizeof(float))) {
        std::cerr << "cannot read data/covariance.bin" << std::endl;
        return 1;
    }

    float* d_weights = nullptr;
    float* d_covariance = nullptr;
    float* d_volatility = nullptr;
    float* d_contribution = nullptr;
    cudaMalloc(&d_weights, kPortfolios * kAssets * sizeof(float));
    cudaMalloc(&d_covariance, kAssets * kAssets * sizeof(float));
    cudaMalloc(&d_volatility, kPortfolios * sizeof(float));
    cudaMalloc(&d_contribution, kPortfolios * kAssets * sizeof(float));
    cudaMemcpy(d_weights, h_weights.data(), kPortfolios * kAssets * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_covariance, h_covariance.data(), kAssets * kAssets * sizeof(float), cudaMemcpyHostToDevice);

    solve(d_weights, d_covariance, d_volatility, d_contribution);

    cudaMemcpy(h_volatility.data(), d_volatility, kPortfolios * sizeof(float), cudaMemcpyDeviceToHost);
    cudaMemcpy(h_contribution.data(), d_contribution, kPortfolios * kAssets * sizeof(float),
        cudaMemcpyDeviceToHost);
    std::ofstream out_volatility("data/volatility.bin", std::ios::binary);
    out_volatility.write(reinterpret_cast<const char*>(h_volatility.data()), kPortfolios * sizeof(float));
    std::ofstream out_contribution("data/contribution.bin", std::ios::binary);
    out_contribution.write(reinterpret_cast<const char*>(h_contribution.data()),
        kPortfolios * kAssets * sizeof(float));

    cudaFree(d_weights);
    cudaFree(d_covariance);
    cudaFree(d_volatility);
    cudaFree(d_contribution);
    return 0;
}
