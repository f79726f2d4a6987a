#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

using Money = unsigned long long;  // two's complement

// owed[payer][payee], flattened. Lanes with the same pair add up first.
__global__ void addTrades(const ushort2* __restrict__ pairs, const int* __restrict__ amounts, Money* owed, int trades,
                          int banks) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x % 32;
    const unsigned active = __ballot_sync(0xffffffffu, i < trades);
    if (i >= trades) return;
    const int cell = pairs[i].x * banks + pairs[i].y;
    const unsigned peers = __match_any_sync(active, cell);
    const long long amount = amounts[i];
    long long sum = 0;
    for (int source = 0; source < 32; ++source) {
        if (!(active >> source & 1)) continue;  // the same for all lanes
        const long long other = __shfl_sync(active, amount, source);
        if (peers >> source & 1) sum += other;
    }
    if (lane == __ffs(peers) - 1) atomicAdd(&owed[cell], static_cast<Money>(sum));
}

// A block is a bank: its row of net positions and the sum of the positive ones.
__global__ void netRows(const Money* __restrict__ owed, int64_t* __restrict__ net, int64_t* __restrict__ exposure,
                        int banks) {
    __shared__ Money total;
    if (threadIdx.x == 0) total = 0;
    __syncthreads();
    const int bank = blockIdx.x;
    Money mine = 0;
    for (int other = threadIdx.x; other < banks; other += blockDim.x) {
        const int64_t due = static_cast<int64_t>(owed[other * banks + bank] - owed[bank * banks + other]);
        net[bank * banks + other] = due;
        if (due > 0) mine += static_cast<Money>(due);
    }
    atomicAdd(&total, mine);
    __syncthreads();
    if (threadIdx.x == 0) exposure[bank] = static_cast<int64_t>(total);
}

static void check(cudaError_t status) {
    if (status != cudaSuccess) throw std::runtime_error(cudaGetErrorString(status));
}

template <typename T>
static std::vector<T> load(const std::string& path, size_t count) {
    std::ifstream in(path, std::ios::binary);
    std::vector<T> values(count);
    in.read(reinterpret_cast<char*>(values.data()), static_cast<std::streamsize>(count * sizeof(T)));
    if (!in || in.get() != EOF) throw std::runtime_error(path + ": wrong length");
    return values;
}

template <typename T>
static void save(const std::string& path, const T* device, size_t count) {
    std::vector<T> values(count);
    check(cudaMemcpy(values.data(), device, count * sizeof(T), cudaMemcpyDeviceToHost));
    std::ofstream out(path, std::ios::binary);
    out.write(reinterpret_cast<const char*>(values.data()), static_cast<std::streamsize>(count * sizeof(T)));
    if (!out.flush()) throw std::runtime_error(path + ": cannot be written");
}

int main() {
    try {
        const auto sizes = load<int>("data/sizes.bin", 2);
        const int trades = sizes[0], banks = sizes[1];
        if (trades < 1 || trades > 2000000) throw std::runtime_error("trades out of range");
        if (banks < 2 || banks > 1024) throw std::runtime_error("banks out of range");
        const auto pairs = load<uint16_t>("data/pairs.bin", 2 * static_cast<size_t>(trades));
        const auto amounts = load<int>("data/amounts.bin", trades);
        for (uint16_t bank : pairs) {
            if (bank >= banks) throw std::runtime_error("data/pairs.bin: unknown bank");
        }
        const size_t cells = static_cast<size_t>(banks) * banks;
        ushort2* dPairs;
        int* dAmounts;
        Money* owed;
        int64_t *net, *exposure;
        check(cudaMalloc(&dPairs, trades * sizeof(ushort2)));
        check(cudaMalloc(&dAmounts, trades * sizeof(int)));
        check(cudaMalloc(&owed, cells * sizeof(Money)));
        check(cudaMalloc(&net, cells * sizeof(int64_t)));
        check(cudaMalloc(&exposure, banks * sizeof(int64_t)));
        check(cudaMemcpy(dPairs, pairs.data(), trades * sizeof(ushort2), cudaMemcpyHostToDevice));
        check(cudaMemcpy(dAmounts, amounts.data(), trades * sizeof(int), cudaMemcpyHostToDevice));
        check(cudaMemset(owed, 0, cells * sizeof(Money)));
        addTrades<<<(trades + 255) / 256, 256>>>(dPairs, dAmounts, owed, trades, banks);
        netRows<<<banks, 128>>>(owed, net, exposure, banks);
        check(cudaGetLastError());
        save("data/net.bin", net, cells);
        save("data/exposure.bin", exposure, banks);
        for (void* p : {(void*)dPairs, (void*)dAmounts, (void*)owed, (void*)net, (void*)exposure}) check(cudaFree(p));
    } catch (const std::exception& error) {
        fprintf(stderr, "%s\n", error.what());
        return 1;
    }
    return 0;
}
