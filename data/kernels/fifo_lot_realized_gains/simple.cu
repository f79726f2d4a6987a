#include <cuda_runtime.h>

#include <fstream>
#include <iostream>
#include <stdexcept>
#include <string>
#include <vector>

using Wide = long long;

constexpr int kMostTrades = 1024;

__global__ void realize(const int* quantity, const int* price, Wide* gain, Wide* openCost, int accounts, int trades) {
    const int account = blockIdx.x * blockDim.x + threadIdx.x;
    if (account >= accounts) return;
    const size_t row = static_cast<size_t>(account) * trades;
    int lot = -1, left = 0;  // the oldest lot in use and its units that are left
    Wide invested = 0;
    for (int t = 0; t < trades; ++t) {
        const Wide value = price[row + t];
        int amount = quantity[row + t];
        Wide profit = 0;
        if (amount > 0) invested += amount * value;
        while (amount < 0) {
            while (left == 0 && lot + 1 < t) {  // the next purchase
                ++lot;
                left = max(quantity[row + lot], 0);
            }
            if (left == 0) break;  // more was sold than bought
            const int part = min(-amount, left);
            profit += part * (value - price[row + lot]);
            invested -= static_cast<Wide>(part) * price[row + lot];
            amount += part;
            left -= part;
        }
        gain[row + t] = profit;
    }
    openCost[account] = invested;
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
        realize<<<(accounts + 63) / 64, 64>>>(dQuantity, dPrice, dGain, dOpen, accounts, trades);
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
