#include <fstream>
#include <iostream>
#include <vector>
#include <cuda_runtime.h>

constexpr int kAssets = 100;
constexpr int kDays = 250;
const int kWarps = 4;
const unsigned kFull = 0xffffffffu;

// A warp a row, 32 days at a time: running maximum by shuffles, then the last day on a peak in the same way.
__global__ void ulcer_warps(const float* __restrict__ prices, float* __restrict__ ulcer,
    int* __restrict__ longest) {
    int asset = blockIdx.x * kWarps + threadIdx.x / 32;
    int lane = threadIdx.x % 32;
    if (asset >= kAssets) return;
    const float* p = prices + (size_t)asset * kDays;
    float carried = 0.0f, sum = 0.0f;
    int top_day = 0, best = 0;
    for (int start = 0; start < kDays; start += 32) {
        int t = start + lane;
        float price = t < kDays ? p[t] : 0.0f;
        float peak = fmaxf(price, carried);
        for (int s = 1; s < 32; s *= 2) {
            float other = __shfl_up_sync(kFull, peak, s);
            if (lane >= s) peak = fmaxf(peak, other);
        }
        carried = __shfl_sync(kFull, peak, 31);
        int mark = price == peak ? t : top_day;
        for (int s = 1; s < 32; s *= 2) {
            int other = __shfl_up_sync(kFull, mark, s);
            if (lane >= s) mark = max(mark, other);
        }
        top_day = __shfl_sync(kFull, mark, 31);
        if (t < kDays) {
            float loss = 100.0f * (peak - price) / peak;
            sum += loss * loss;
            best = max(best, t - mark);
        }
    }
    for (int s = 16; s > 0; s /= 2) {
        sum += __shfl_xor_sync(kFull, sum, s);
        best = max(best, __shfl_xor_sync(kFull, best, s));
    }
    if (lane == 0) {
        ulcer[asset] = sqrtf(sum / kDays);
        longest[asset] = best;
    }
}

void run(const float* d_prices, float* d_ulcer, int* d_longest) {
    ulcer_warps<<<(kAssets + kWarps - 1) / kWarps, kWarps * 32>>>(d_prices, d_ulcer, d_longest);
}

int main() {
    std::vector<float> prices(kAssets * kDays);
    std::vector<float> ulcer(kAssets);
    std::vector<int> longest(kAssets);
    std::ifstream in("data/prices.bin", std::ios::binary);
    if (!in.read(reinterpret_cast<char*>(prices.data()), sizeof(float) * kAssets * kDays)) {
        std::cerr << "cannot read data/prices.bin" << std::endl;
        return 1;
    }

    float* d_prices = nullptr;
    float* d_ulcer = nullptr;
    int* d_longest = nullptr;
    cudaMalloc(&d_prices, sizeof(float) * kAssets * kDays);
    cudaMalloc(&d_ulcer, sizeof(float) * kAssets);
    cudaMalloc(&d_longest, sizeof(int) * kAssets);
    cudaMemcpy(d_prices, prices.data(), sizeof(float) * kAssets * kDays, cudaMemcpyHostToDevice);

    run(d_prices, d_ulcer, d_longest);

    cudaMemcpy(ulcer.data(), d_ulcer, sizeof(float) * kAssets, cudaMemcpyDeviceToHost);
    cudaMemcpy(longest.data(), d_longest, sizeof(int) * kAssets, cudaMemcpyDeviceToHost);
    std::ofstream out_ulcer("data/ulcer.bin", std::ios::binary);
    out_ulcer.write(reinterpret_cast<const char*>(ulcer.data()), sizeof(float) * kAssets);
    std::ofstream out_longest("data/longest.bin", std::ios::binary);
    out_longest.write(reinterpret_cast<const char*>(longest.data()), sizeof(int) * kAssets);

    cudaFree(d_prices);
    cudaFree(d_ulcer);
    cudaFree(d_longest);
    return 0;
}
