#include <fstream>
#include <iostream>
#include <cuda_runtime.h>

constexpr int kMarkets = 5;
constexpr int kCurrencies = 45;
constexpr int kTile = 16;

// Works like a tiled matrix product with the maximum in the place of the sum.
__global__ void best_detour_tiled(const float* __restrict__ rate, float* __restrict__ advantage,
                                  int* __restrict__ via) {
    __shared__ float left[kTile][kTile], right[kTile][kTile + 1];
    const int tx = threadIdx.x, ty = threadIdx.y;
    const int i = blockIdx.y * kTile + ty, j = blockIdx.x * kTile + tx;
    const size_t base = (size_t)blockIdx.z * kCurrencies * kCurrencies;
    const float* r = rate + base;
    float best = -1.0f;
    int where = -1;
    for (int k0 = 0; k0 < kCurrencies; k0 += kTile) {
        const int lk = k0 + tx, rk = k0 + ty;
        left[ty][tx] = i < kCurrencies && lk < kCurrencies ? r[i * kCurrencies + lk] : 0.0f;
        right[ty][tx] = j < kCurrencies && rk < kCurrencies ? r[rk * kCurrencies + j] : 0.0f;
        __syncthreads();
        const int n = min(kTile, kCurrencies - k0);
        for (int q = 0; q < n; ++q) {
            const int k = k0 + q;
            const float product = left[ty][q] * right[q][tx];
            if (product > best && k != i && k != j) {
                best = product;
                where = k;
            }
        }
        __syncthreads();
    }
    if (i < kCurrencies && j < kCurrencies) {
        const size_t at = base + i * kCurrencies + j;
        advantage[at] = best / rate[at];
        via[at] = where;
    }
}

int main() {
    const size_t total = size_t(kMarkets) * kCurrencies * kCurrencies;
    float *rate, *advantage;
    int *via;
    cudaMallocManaged(&rate, total * sizeof(float));
    cudaMallocManaged(&advantage, total * sizeof(float));
    cudaMallocManaged(&via, total * sizeof(int));

    std::ifstream rate_in("data/rate.bin", std::ios::binary);
    if (!rate_in.read((char*)rate, total * sizeof(float))) {
        std::cerr << "cannot read data/rate.bin\n";
        return 1;
    }

    const int tiles = (kCurrencies + kTile - 1) / kTile;
    best_detour_tiled<<<dim3(tiles, tiles, kMarkets), dim3(kTile, kTile)>>>(rate, advantage, via);
    cudaError_t result = cudaDeviceSynchronize();
    if (result != cudaSuccess) {
        std::cerr << "kernel failed: " << cudaGetErrorString(result) << std::endl;
        return 1;
    }

    std::ofstream("data/advantage.bin", std::ios::binary).write((const char*)advantage, total * sizeof(float));
    std::ofstream("data/via.bin", std::ios::binary).write((const char*)via, total * sizeof(int));
    cudaFree(rate);
    cudaFree(advantage);
    cudaFree(via);
    return 0;
}
