#include <cuda_runtime.h>

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

__global__ void makeBars(const int64_t* times, const int* prices, const int* volumes, int64_t start, int64_t length,
                         int4* ohlc, int64_t* volume, double* vwap, int trades, int bars) {
    const int bar = blockIdx.x * blockDim.x + threadIdx.x;
    if (bar >= bars) return;
    int i = tradesBefore(times, trades, start + bar * length);
    const bool any = i > tradesBefore(times, trades, start);
    int4 result = make_int4(0, 0, 0, 0);
    if (any) result = make_int4(prices[i - 1], prices[i - 1], prices[i - 1], prices[i - 1]);
    int64_t sum = 0, money = 0;
    for (; i < trades && times[i] < start + (bar + 1) * length; ++i) {
        if (sum == 0) result = make_int4(prices[i], prices[i], prices[i], prices[i]);
        result.y = max(result.y, prices[i]);
        result.z = min(result.z, prices[i]);
        result.w = prices[i];
        sum += volumes[i];
        money += static_cast<int64_t>(prices[i]) * volumes[i];
    }
    ohlc[bar] = result;
    volume[bar] = sum;
    vwap[bar] = sum > 0 ? static_cast<double>(money) / static_cast<double>(sum) : result.w;
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
    makeBars<<<(bars + 127) / 128, 128>>>(times, prices, volumes, clock[0], clock[1], ohlc, volume, vwap, trades,
                                          bars);
    CHECK(cudaGetLastError());
    writeAll("data/ohlc.bin", ohlc, bars);
    writeAll("data/volume.bin", volume, bars);
    writeAll("data/vwap.bin", vwap, bars);
    CHECK(cudaFree(times));
    CHECK(cudaFree(prices));
    CHECK(cudaFree(volumes));
    return 0;
}
