#include <fstream>
#include <iostream>
#include <stdexcept>
#include <string>
#include <vector>
#include <cuda_runtime.h>

template <typename T>
std::vector<T> load(const std::string& path, size_t size) {
    std::vector<T> v(size);
    std::ifstream file(path, std::ios::binary);
    if (!file.read(reinterpret_cast<char*>(v.data()), size * sizeof(T))) {
        throw std::runtime_error("cannot read " + path);
    }
    return v;
}

template <typename T>
void store(const std::string& path, const std::vector<T>& v) {
    std::ofstream out(path, std::ios::binary);
    out.write(reinterpret_cast<const char*>(v.data()), v.size() * sizeof(T));
}
//@given

constexpr int kTrades = 400;
constexpr int kDays = 100;
constexpr int kWarps = 4;

// A warp examines 32 days at once: the running peak comes from a maximum scan over the lanes.
__global__ void find_exits_warp(const int* __restrict__ price, int* __restrict__ exit_day,
                                int* __restrict__ reason, int* __restrict__ profit) {
    const int lane = threadIdx.x;
    const int trade = blockIdx.x * kWarps + threadIdx.y;
    if (trade >= kTrades) return;
    const int* row = price + (size_t)trade * kDays;
    const int entry = row[0];
    int peak = entry, day = kDays - 1, why = 0;
    for (int t0 = 1; t0 < kDays; t0 += 32) {
        const bool inside = t0 + lane < kDays;
        const int p = inside ? row[t0 + lane] : 0;
        int top = max(p, peak);
        for (int s = 1; s < 32; s *= 2) {
            const int other = __shfl_up_sync(0xffffffffu, top, s);
            if (lane >= s) top = max(top, other);
        }
        const unsigned int stops = __ballot_sync(0xffffffffu, inside && 100 * p <= 92 * top);
        const unsigned int targets = __ballot_sync(0xffffffffu, inside && 100 * p >= 115 * entry);
        if (stops | targets) {
            const int first = __ffs(stops | targets) - 1;
            day = t0 + first;
            why = ((stops >> first) & 1u) ? 1 : 2;
            break;
        }
        peak = __shfl_sync(0xffffffffu, top, 31);
    }
    if (lane == 0) {
        exit_day[trade] = day;
        reason[trade] = why;
        profit[trade] = row[day] - entry;
    }
}

int main() {
    constexpr size_t len = (size_t)kTrades * kDays;
    auto price = load<int>("data/price.bin", len);
    std::vector<int> exit_day(kTrades);
    std::vector<int> reason(kTrades);
    std::vector<int> profit(kTrades);

    int* dev_price;
    int* dev_exit_day;
    int* dev_reason;
    int* dev_profit;
    cudaMalloc(&dev_price, len * sizeof(int));
    cudaMalloc(&dev_exit_day, kTrades * sizeof(int));
    cudaMalloc(&dev_reason, kTrades * sizeof(int));
    cudaMalloc(&dev_profit, kTrades * sizeof(int));
    cudaMemcpy(dev_price, price.data(), len * sizeof(int), cudaMemcpyHostToDevice);

    dim3 block(32, kWarps);
    find_exits_warp<<<(kTrades + kWarps - 1) / kWarps, block>>>(dev_price, dev_exit_day, dev_reason, dev_profit);
    cudaError_t result = cudaDeviceSynchronize();
    if (result != cudaSuccess) {
        std::cerr << "CUDA error: " << cudaGetErrorString(result) << std::endl;
        return 1;
    }
    cudaMemcpy(exit_day.data(), dev_exit_day, kTrades * sizeof(int), cudaMemcpyDeviceToHost);
    cudaMemcpy(reason.data(), dev_reason, kTrades * sizeof(int), cudaMemcpyDeviceToHost);
    cudaMemcpy(profit.data(), dev_profit, kTrades * sizeof(int), cudaMemcpyDeviceToHost);
    store("data/exit_day.bin", exit_day);
    store("data/reason.bin", reason);
    store("data/profit.bin", profit);

    cudaFree(dev_price);
    cudaFree(dev_exit_day);
    cudaFree(dev_reason);
    cudaFree(dev_profit);
    return 0;
}
