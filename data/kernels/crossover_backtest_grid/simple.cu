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

// One thread a pair of windows; both sums roll along with the days.
__global__ void backtest(const int* prices, const int* fastWindows, const int* slowWindows, unsigned long long* profit,
                         int* trades, int days, int fast, int slow) {
    const int pair = blockIdx.x * blockDim.x + threadIdx.x;
    if (pair >= fast * slow) return;
    const int a = fastWindows[pair / slow], b = slowWindows[pair % slow];
    int64_t sumA = 0, sumB = 0, gained = 0;
    int changes = 0;
    bool before = false;
    for (int d = 0; d + 1 < days; ++d) {
        sumA += prices[d] - (d >= a ? prices[d - a] : 0);
        sumB += prices[d] - (d >= b ? prices[d - b] : 0);
        if (d + 1 < max(a, b)) continue;
        const bool now = sumA * b > sumB * a;
        if (now) gained += prices[d + 1] - prices[d];
        changes += now != before;
        before = now;
    }
    profit[pair] = static_cast<unsigned long long>(gained);
    trades[pair] = changes;
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
    backtest<<<(fast * slow + 31) / 32, 32>>>(prices, dFast, dSlow, profit, trades, days, fast, slow);
    CUDA(cudaGetLastError());
    writeArray("data/profit.bin", profit, pairs);
    writeArray("data/trades.bin", trades, pairs);
    CUDA(cudaFree(prices));
    CUDA(cudaFree(dFast));
    CUDA(cudaFree(dSlow));
    return 0;
}
