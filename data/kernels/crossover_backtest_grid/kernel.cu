#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define CUDA(call)                                                                            \
    do {                                                                                      \
        if (const cudaError_t e = (call); e != cudaSuccess) {                                 \
            fprintf(stderr, "%s (line %d)\n", cudaGetErrorString(e), __LINE__);               \
            exit(1);                                                                          \
        }                                                                                     \
    } while (0)

static std::vector<int> readInts(const char* path, size_t count) {
    std::vector<int> values(count);
    FILE* file = fopen(path, "rb");
    if (!file || fread(values.data(), sizeof(int), count, file) != count || fgetc(file) != EOF) {
        fprintf(stderr, "%s: expected %zu int32 values\n", path, count);
        exit(1);
    }
    fclose(file);
    return values;
}

static int* toDevice(const std::vector<int>& values) {
    int* device;
    CUDA(cudaMalloc(&device, values.size() * sizeof(int)));
    CUDA(cudaMemcpy(device, values.data(), values.size() * sizeof(int), cudaMemcpyHostToDevice));
    return device;
}

template <typename T>
static void writeArray(const char* path, T* device, size_t count) {
    std::vector<T> values(count);
    CUDA(cudaMemcpy(values.data(), device, count * sizeof(T), cudaMemcpyDeviceToHost));
    CUDA(cudaFree(device));
    FILE* file = fopen(path, "wb");
    if (!file || fwrite(values.data(), sizeof(T), count, file) != count || fclose(file) != 0) {
        fprintf(stderr, "%s: cannot be written\n", path);
        exit(1);
    }
}

constexpr int THREADS = 256;

// One block: sums[d] = prices[0] + ... + prices[d - 1] for d = 0..days.
__global__ void prefixSums(const int* __restrict__ prices, int64_t* __restrict__ sums, int days) {
    __shared__ int64_t parts[THREADS];
    const int share = (days + THREADS - 1) / THREADS;
    const int begin = min(static_cast<int>(threadIdx.x) * share, days), end = min(begin + share, days);
    int64_t sum = 0;
    for (int d = begin; d < end; ++d) sum += prices[d];
    parts[threadIdx.x] = sum;
    __syncthreads();
    int64_t before = 0;
    for (int t = 0; t < static_cast<int>(threadIdx.x); ++t) before += parts[t];
    for (int d = begin; d < end; ++d) {
        sums[d] = before;
        before += prices[d];
    }
    if (threadIdx.x == THREADS - 1) sums[days] = before;  // an empty share leaves the total
}

// One block a pair of windows; threads stride over the days.
__global__ void backtest(const int* __restrict__ prices, const int64_t* __restrict__ sums,
                         const int* __restrict__ fastWindows, const int* __restrict__ slowWindows,
                         unsigned long long* profit, int* trades, int days) {
    const int a = fastWindows[blockIdx.y], b = slowWindows[blockIdx.x], pair = blockIdx.y * gridDim.x + blockIdx.x;
    const int first = max(a, b) - 1;
    auto isLong = [&](int d) {
        return d >= first && (sums[d + 1] - sums[d + 1 - a]) * b > (sums[d + 1] - sums[d + 1 - b]) * a;
    };
    long long gained = 0;
    int changes = 0;
    for (int d = first + threadIdx.x; d < days - 1; d += THREADS) {
        const bool now = isLong(d);
        if (now) gained += prices[d + 1] - prices[d];
        changes += now != isLong(d - 1);
    }
    for (int step = 16; step > 0; step /= 2) gained += __shfl_down_sync(0xffffffffu, gained, step);
    changes = __reduce_add_sync(0xffffffffu, changes);
    if (threadIdx.x % 32 == 0) {
        atomicAdd(&profit[pair], static_cast<unsigned long long>(gained));
        atomicAdd(&trades[pair], changes);
    }
}

int main() {
    const std::vector<int> sizes = readInts("data/sizes.bin", 3);
    const int days = sizes[0], fast = sizes[1], slow = sizes[2];
    if (days < 2 || days > 100000 || fast < 1 || fast > 64 || slow < 1 || slow > 64) {
        fprintf(stderr, "data/sizes.bin: out of range\n");
        return 1;
    }
    const std::vector<int> fastWindows = readInts("data/fast_windows.bin", fast);
    const std::vector<int> slowWindows = readInts("data/slow_windows.bin", slow);
    for (const std::vector<int>& windows : {fastWindows, slowWindows}) {
        for (int window : windows) {
            if (window < 1 || window > days) return 1;
        }
    }
    int *prices = toDevice(readInts("data/prices.bin", days)), *dFast = toDevice(fastWindows);
    int *dSlow = toDevice(slowWindows), *trades;
    unsigned long long* profit;
    const size_t pairs = static_cast<size_t>(fast) * slow;
    CUDA(cudaMalloc(&profit, pairs * sizeof(unsigned long long)));
    CUDA(cudaMalloc(&trades, pairs * sizeof(int)));
    int64_t* sums;
    CUDA(cudaMalloc(&sums, (days + 1) * sizeof(int64_t)));
    CUDA(cudaMemset(profit, 0, pairs * sizeof(unsigned long long)));
    CUDA(cudaMemset(trades, 0, pairs * sizeof(int)));
    prefixSums<<<1, THREADS>>>(prices, sums, days);
    backtest<<<dim3(slow, fast), THREADS>>>(prices, sums, dFast, dSlow, profit, trades, days);
    CUDA(cudaGetLastError());
    CUDA(cudaDeviceSynchronize());
    CUDA(cudaFree(sums));
    writeArray("data/profit.bin", profit, pairs);
    writeArray("data/trades.bin", trades, pairs);
    CUDA(cudaFree(prices));
    CUDA(cudaFree(dFast));
    CUDA(cudaFree(dSlow));
    return 0;
}
