#include <cuda_runtime.h>

#include <climits>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define CHECK(call)                                                                   \
    do {                                                                              \
        cudaError_t c = (call);                                                       \
        if (c != cudaSuccess) {                                                       \
            fprintf(stderr, "line %d: CUDA says %s\n", __LINE__, cudaGetErrorString(c)); \
            exit(1);                                                                  \
        }                                                                             \
    } while (0)

template <typename T>
static std::vector<T> readAll(const char* path, size_t count) {
    std::vector<T> values(count);
    FILE* file = fopen(path, "rb");
    if (!file || fread(values.data(), sizeof(T), count, file) != count || fgetc(file) != EOF) {
        fprintf(stderr, "%s: expected %zu values of %zu bytes\n", path, count, sizeof(T));
        exit(1);
    }
    fclose(file);
    return values;
}

template <typename T>
static T* copyToDevice(const std::vector<T>& values) {
    T* device;
    CHECK(cudaMalloc(&device, values.size() * sizeof(T)));
    CHECK(cudaMemcpy(device, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice));
    return device;
}

template <typename T>
static void writeAll(const char* path, T* device, size_t count) {
    std::vector<T> values(count);
    CHECK(cudaMemcpy(values.data(), device, count * sizeof(T), cudaMemcpyDeviceToHost));
    CHECK(cudaFree(device));
    FILE* file = fopen(path, "wb");
    if (!file || fwrite(values.data(), sizeof(T), count, file) != count || fclose(file) != 0) {
        fprintf(stderr, "%s: not written\n", path);
        exit(1);
    }
}

// The number of trades before `moment`.
__device__ int tradesBefore(const int64_t* times, int trades, int64_t moment) {
    int low = 0, high = trades;
    while (low < high) {
        const int middle = (low + high) / 2;
        if (times[middle] < moment) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

constexpr int WARPS = 8;
constexpr unsigned FULL = 0xffffffffu;

__global__ void makeBars(const int64_t* __restrict__ times, const int* __restrict__ prices,
                         const int* __restrict__ volumes, int64_t start, int64_t length, int4* __restrict__ ohlc,
                         int64_t* __restrict__ volume, double* __restrict__ vwap, int trades, int bars) {
    const int lane = threadIdx.x, bar = blockIdx.x * WARPS + threadIdx.y;
    if (bar >= bars) return;
    const int64_t from = start + bar * length;
    const int firstTrade = tradesBefore(times, trades, start);
    const int begin = tradesBefore(times, trades, from), end = tradesBefore(times, trades, from + length);
    int low = INT_MAX, high = 0;
    long long sum = 0, money = 0;
    for (int i = begin + lane; i < end; i += 32) {
        low = min(low, prices[i]);
        high = max(high, prices[i]);
        sum += volumes[i];
        money += static_cast<long long>(prices[i]) * volumes[i];
    }
    low = __reduce_min_sync(FULL, low);
    high = __reduce_max_sync(FULL, high);
    for (int step = 16; step > 0; step /= 2) {
        sum += __shfl_down_sync(FULL, sum, step);
        money += __shfl_down_sync(FULL, money, step);
    }
    if (lane != 0) return;
    // Without a trade, the last trade of an earlier bar counts, whichever bar that was.
    const int last = end > firstTrade ? prices[end - 1] : 0;
    ohlc[bar] = begin < end ? make_int4(prices[begin], high, low, last) : make_int4(last, last, last, last);
    volume[bar] = sum;
    vwap[bar] = begin < end ? static_cast<double>(money) / static_cast<double>(sum) : last;
}

int main() {
    const auto sizes = readAll<int>("data/sizes.bin", 2);
    const int trades = sizes[0], bars = sizes[1];
    if (trades < 1 || trades > 2000000 || bars < 1 || bars > 200000) {
        fprintf(stderr, "data/sizes.bin: out of range\n");
        return 1;
    }
    const auto clock = readAll<int64_t>("data/clock.bin", 2);
    int64_t* times = copyToDevice(readAll<int64_t>("data/times.bin", trades));
    int* prices = copyToDevice(readAll<int>("data/prices.bin", trades));
    int* volumes = copyToDevice(readAll<int>("data/volumes.bin", trades));
    int4* ohlc;
    int64_t* volume;
    double* vwap;
    CHECK(cudaMalloc(&ohlc, bars * sizeof(int4)));
    CHECK(cudaMalloc(&volume, bars * sizeof(int64_t)));
    CHECK(cudaMalloc(&vwap, bars * sizeof(double)));
    makeBars<<<(bars + WARPS - 1) / WARPS, dim3(32, WARPS)>>>(times, prices, volumes, clock[0], clock[1], ohlc, volume,
                                                              vwap, trades, bars);
    CHECK(cudaGetLastError());
    writeAll("data/ohlc.bin", ohlc, bars);
    writeAll("data/volume.bin", volume, bars);
    writeAll("data/vwap.bin", vwap, bars);
    CHECK(cudaFree(times));
    CHECK(cudaFree(prices));
    CHECK(cudaFree(volumes));
    return 0;
}
