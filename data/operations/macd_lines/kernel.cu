#include <cuda_runtime.h>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>

void load_bin(const std::string& name, float* dst, size_t n) {
    std::ifstream in(name, std::ios::binary);
    if (!in.read(reinterpret_cast<char*>(dst), n * sizeof(float))) {
        std::cerr << "cannot read " << name << std::endl;
        std::exit(1);
    }
}

void store_bin(const std::string& name, const float* src, size_t n) {
    std::ofstream file(name, std::ios::binary);
    file.write(reinterpret_cast<const char*>(src), n * sizeof(float));
}
//@given

constexpr int kAssets = 50;
constexpr int kDays = 250;
constexpr int kTile = 32;

// A warp handles 32 series; tiles of 32 days pass through shared memory to keep global accesses along the days.
__global__ void macd_tiles(const float* __restrict__ prices, float* __restrict__ macd,
                           float* __restrict__ histogram) {
    __shared__ float line_tile[kTile][kTile + 1], hist_tile[kTile][kTile + 1];
    const int lane = threadIdx.x;
    const int first = blockIdx.x * kTile;
    const int series = min(kTile, kAssets - first);
    float fast = 0.0f, slow = 0.0f, signal = 0.0f;
    for (int t0 = 0; t0 < kDays; t0 += kTile) {
        const int days = min(kTile, kDays - t0);
        for (int s = 0; s < series; ++s) {
            if (lane < days) line_tile[s][lane] = prices[(size_t)(first + s) * kDays + t0 + lane];
        }
        __syncthreads();
        if (lane < series) {
            if (t0 == 0) fast = slow = line_tile[lane][0];
            for (int k = 0; k < days; ++k) {
                const float p = line_tile[lane][k];
                fast = fmaf(2.0f / 13.0f, p - fast, fast);
                slow = fmaf(2.0f / 27.0f, p - slow, slow);
                const float line = fast - slow;
                signal = fmaf(0.2f, line - signal, signal);
                line_tile[lane][k] = line;
                hist_tile[lane][k] = line - signal;
            }
        }
        __syncthreads();
        for (int s = 0; s < series; ++s) {
            const size_t at = (size_t)(first + s) * kDays + t0 + lane;
            if (lane < days) {
                macd[at] = line_tile[s][lane];
                histogram[at] = hist_tile[s][lane];
            }
        }
        __syncthreads();
    }
}

int main() {
    const size_t total = (size_t)kAssets * kDays;
    float* h_prices = new float[total];
    float* h_macd = new float[total];
    float* h_histogram = new float[total];
    load_bin("data/prices.bin", h_prices, total);

    float* d_prices = nullptr;
    cudaMalloc(&d_prices, total * sizeof(float));
    cudaMemcpy(d_prices, h_prices, total * sizeof(float), cudaMemcpyHostToDevice);
    float* d_macd = nullptr;
    cudaMalloc(&d_macd, total * sizeof(float));
    float* d_histogram = nullptr;
    cudaMalloc(&d_histogram, total * sizeof(float));

    macd_tiles<<<(kAssets + kTile - 1) / kTile, kTile>>>(d_prices, d_macd, d_histogram);
    cudaError_t status = cudaDeviceSynchronize();
    if (status != cudaSuccess) {
        std::cerr << "CUDA: " << cudaGetErrorString(status) << '\n';
        return 1;
    }
    cudaMemcpy(h_macd, d_macd, total * sizeof(float), cudaMemcpyDeviceToHost);
    cudaMemcpy(h_histogram, d_histogram, total * sizeof(float), cudaMemcpyDeviceToHost);
    store_bin("data/macd.bin", h_macd, total);
    store_bin("data/histogram.bin", h_histogram, total);

    cudaFree(d_prices);
    cudaFree(d_macd);
    cudaFree(d_histogram);
    delete[] h_prices;
    delete[] h_macd;
    delete[] h_histogram;
    return 0;
}
