#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>
#include <vector>
#include <cuda_runtime.h>

template <typename T>
std::vector<T> read_vector(const std::string& path, size_t count) {
    std::vector<T> v(count);
    std::ifstream in(path, std::ios::binary);
    if (!in.read(reinterpret_cast<char*>(v.data()), count * sizeof(T))) {
        std::cerr << "cannot read " << path << "\n";
        std::exit(1);
    }
    return v;
}

template <typename T>
void write_vector(const std::string& path, const std::vector<T>& v) {
    std::ofstream out(path, std::ios::binary);
    out.write(reinterpret_cast<const char*>(v.data()), v.size() * sizeof(T));
}
//@given

constexpr int ASSETS = 100;
constexpr int DAYS = 200;
const int WARPS = 4;
const unsigned FULL = 0xffffffffu;

// A warp takes 32 days at once: a day maps an average x to c x + k price, and a scan over the lanes joins the maps.
__device__ float averages(float price, float k, float& carry, int lane) {
    float c = 1.0f - k, d = k * price;
    for (int s = 1; s < 32; s *= 2) {
        float c0 = __shfl_up_sync(FULL, c, s);
        float d0 = __shfl_up_sync(FULL, d, s);
        if (lane >= s) {
            d += c * d0;
            c *= c0;
        }
    }
    float average = c * carry + d;
    carry = __shfl_sync(FULL, average, 31);
    return average;
}

__global__ void crossing_warps(const float* __restrict__ prices, float* __restrict__ gap,
                               int* __restrict__ crossings) {
    int asset = blockIdx.x * WARPS + threadIdx.x / 32;
    if (asset >= ASSETS) return;
    int lane = threadIdx.x % 32;
    size_t row = (size_t)asset * DAYS;
    // Averages are kept relative to the first price, which also makes them start at 0.
    float origin = prices[row];
    float fast = 0.0f, slow = 0.0f, last = 0.0f;
    int count = 0;
    for (int start = 0; start < DAYS; start += 32) {
        int t = start + lane;
        float price = t < DAYS ? prices[row + t] - origin : 0.0f;
        float g = averages(price, 2.0f / 13.0f, fast, lane) - averages(price, 2.0f / 27.0f, slow, lane);
        float before = __shfl_up_sync(FULL, g, 1);
        if (lane == 0) before = last;
        last = __shfl_sync(FULL, g, 31);
        bool crossed = t >= 2 && t < DAYS && (g > 0.0f) != (before > 0.0f);
        count += __popc(__ballot_sync(FULL, crossed));
        if (t < DAYS) gap[row + t] = g;
    }
    if (lane == 0) crossings[asset] = count;
}

int main() {
    auto prices = read_vector<float>("data/prices.bin", ASSETS * DAYS);
    std::vector<float> gap(ASSETS * DAYS);
    std::vector<int> crossings(ASSETS);

    float* d_prices = nullptr;
    float* d_gap = nullptr;
    int* d_crossings = nullptr;
    cudaMalloc(&d_prices, sizeof(float) * ASSETS * DAYS);
    cudaMalloc(&d_gap, sizeof(float) * ASSETS * DAYS);
    cudaMalloc(&d_crossings, sizeof(int) * ASSETS);
    cudaMemcpy(d_prices, prices.data(), sizeof(float) * ASSETS * DAYS, cudaMemcpyHostToDevice);

    crossing_warps<<<(ASSETS + WARPS - 1) / WARPS, WARPS * 32>>>(d_prices, d_gap, d_crossings);

    cudaMemcpy(gap.data(), d_gap, sizeof(float) * ASSETS * DAYS, cudaMemcpyDeviceToHost);
    cudaMemcpy(crossings.data(), d_crossings, sizeof(int) * ASSETS, cudaMemcpyDeviceToHost);
    write_vector("data/gap.bin", gap);
    write_vector("data/crossings.bin", crossings);

    cudaFree(d_prices);
    cudaFree(d_gap);
    cudaFree(d_crossings);
    return 0;
}
