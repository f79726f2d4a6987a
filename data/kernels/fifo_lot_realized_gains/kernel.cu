#include <cuda_runtime.h>

#include <fstream>
#include <iostream>
#include <stdexcept>
#include <string>
#include <vector>

using Wide = long long;

constexpr int kThreads = 256, kEach = 4, kMostTrades = kThreads * kEach;
constexpr unsigned kAll = 0xffffffffu;

struct Totals {
    Wide bought, cost, sold;
    __device__ Totals operator+(const Totals& b) const { return {bought + b.bought, cost + b.cost, sold + b.sold}; }
};

__device__ Totals shiftUp(const Totals& v, int by) {
    return {__shfl_up_sync(kAll, v.bought, by), __shfl_up_sync(kAll, v.cost, by), __shfl_up_sync(kAll, v.sold, by)};
}

__device__ Totals inclusiveScan(Totals v, Totals* warpTotals) {
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    for (int by = 1; by < 32; by *= 2) {
        const Totals left = shiftUp(v, by);
        if (lane >= by) v = left + v;
    }
    if (lane == 31) warpTotals[warp] = v;
    __syncthreads();
    for (int w = 0; w < warp; ++w) v = v + warpTotals[w];
    return v;
}

// What the first `units` units that were bought cost; bought[j] and cost[j] are sums over the trades before j.
__device__ Wide costOf(Wide units, const Wide* bought, const Wide* cost, int trades, const int* price) {
    int low = 0, high = trades;  // the last j <= trades with bought[j] <= units
    while (low < high) {
        const int middle = (low + high + 1) / 2;
        if (bought[middle] <= units) low = middle;
        else high = middle - 1;
    }
    const Wide rest = units - bought[low];
    return cost[low] + (rest > 0 && low < trades ? rest * price[low] : 0);
}

__global__ void __launch_bounds__(kThreads) realize(const int* __restrict__ quantity, const int* __restrict__ price,
                                                    Wide* __restrict__ gain, Wide* __restrict__ openCost, int trades) {
    __shared__ Wide bought[kMostTrades + 1], cost[kMostTrades + 1];
    __shared__ Totals warpTotals[kThreads / 32];
    const size_t row = static_cast<size_t>(blockIdx.x) * trades;
    const int* prices = price + row;
    const int first = threadIdx.x * kEach;
    int amount[kEach];
    Totals mine{};
    for (int k = 0; k < kEach; ++k) {
        amount[k] = first + k < trades ? quantity[row + first + k] : 0;
        if (amount[k] > 0) mine = mine + Totals{amount[k], static_cast<Wide>(amount[k]) * prices[first + k], 0};
        if (amount[k] < 0) mine.sold -= amount[k];
    }
    Totals before = inclusiveScan(mine, warpTotals);
    before.bought -= mine.bought;
    before.cost -= mine.cost;
    before.sold -= mine.sold;

    Wide sold = before.sold;
    for (int k = 0; k < kEach; ++k) {
        bought[first + k] = before.bought;
        cost[first + k] = before.cost;
        if (amount[k] > 0) {
            before.bought += amount[k];
            before.cost += static_cast<Wide>(amount[k]) * prices[first + k];
        }
    }
    if (threadIdx.x == kThreads - 1) {
        bought[kMostTrades] = before.bought;
        cost[kMostTrades] = before.cost;
    }
    __syncthreads();

    for (int k = 0; k < kEach && first + k < trades; ++k) {
        Wide profit = 0;
        if (amount[k] < 0) {
            const Wide paid = costOf(sold - amount[k], bought, cost, trades, prices) -
                              costOf(sold, bought, cost, trades, prices);
            profit = static_cast<Wide>(-amount[k]) * prices[first + k] - paid;
            sold -= amount[k];
        }
        gain[row + first + k] = profit;
    }
    if (threadIdx.x == kThreads - 1) {  // its running total is the account's, as trades that do not exist sell nothing
        openCost[blockIdx.x] = cost[trades] - costOf(sold, bought, cost, trades, prices);
    }
}

static void check(cudaError_t status, const char* what) {
    if (status != cudaSuccess) throw std::runtime_error(std::string(what) + ": " + cudaGetErrorString(status));
}

static std::vector<int> readInts(const std::string& path, size_t count) {
    std::ifstream file(path, std::ios::binary | std::ios::ate);
    const bool fits = file && static_cast<size_t>(file.tellg()) == count * sizeof(int);
    if (!fits) throw std::runtime_error(path + ": not of the expected length");
    std::vector<int> values(count);
    file.seekg(0);
    if (!file.read(reinterpret_cast<char*>(values.data()), count * sizeof(int))) throw std::runtime_error(path);
    return values;
}

static void writeWide(const std::string& path, const Wide* device, size_t count) {
    std::vector<Wide> values(count);
    check(cudaMemcpy(values.data(), device, count * sizeof(Wide), cudaMemcpyDeviceToHost), path.c_str());
    std::ofstream file(path, std::ios::binary);
    file.write(reinterpret_cast<const char*>(values.data()), count * sizeof(Wide));
    file.close();
    if (!file) throw std::runtime_error(path + ": not written");
}

int main() {
    try {
        const auto sizes = readInts("data/sizes.bin", 2);
        const int accounts = sizes[0], trades = sizes[1];
        if (accounts < 1 || accounts > 100000 || trades < 1 || trades > kMostTrades) {
            throw std::runtime_error("data/sizes.bin: out of range");
        }
        const size_t count = static_cast<size_t>(accounts) * trades, bytes = count * sizeof(int);
        const auto quantity = readInts("data/quantity.bin", count), price = readInts("data/price.bin", count);
        int *dQuantity = nullptr, *dPrice = nullptr;
        Wide *dGain = nullptr, *dOpen = nullptr;
        check(cudaMalloc(&dQuantity, bytes), "cudaMalloc");
        check(cudaMalloc(&dPrice, bytes), "cudaMalloc");
        check(cudaMalloc(&dGain, count * sizeof(Wide)), "cudaMalloc");
        check(cudaMalloc(&dOpen, accounts * sizeof(Wide)), "cudaMalloc");
        check(cudaMemcpy(dQuantity, quantity.data(), bytes, cudaMemcpyHostToDevice), "cudaMemcpy");
        check(cudaMemcpy(dPrice, price.data(), bytes, cudaMemcpyHostToDevice), "cudaMemcpy");
        realize<<<accounts, kThreads>>>(dQuantity, dPrice, dGain, dOpen, trades);
        check(cudaGetLastError(), "realize");
        writeWide("data/gain.bin", dGain, count);
        writeWide("data/open_cost.bin", dOpen, accounts);
        check(cudaFree(dQuantity), "cudaFree");
        check(cudaFree(dPrice), "cudaFree");
        check(cudaFree(dGain), "cudaFree");
        check(cudaFree(dOpen), "cudaFree");
    } catch (const std::exception& error) {
        std::cerr << error.what() << '\n';
        return 1;
    }
    return 0;
}
