#include <cub/device/device_radix_sort.cuh>
#include <cuda_runtime.h>

#include <cmath>
#include <cstdint>
#include <fstream>
#include <iostream>
#include <stdexcept>
#include <string>
#include <vector>

constexpr int kThreads = 1024;
constexpr unsigned kAll = 0xffffffffu;

// x: the maximum, y: the sum of exp(value - maximum); empty is (-inf, 0).
__device__ float2 combine(float2 a, float2 b) {
    const float top = fmaxf(a.x, b.x);
    if (top == -INFINITY) return a;
    return make_float2(top, a.y * expf(a.x - top) + b.y * expf(b.x - top));
}

__device__ float2 scanWarp(float2 value) {
    for (int step = 1; step < 32; step *= 2) {
        const float2 left =
            make_float2(__shfl_up_sync(kAll, value.x, step), __shfl_up_sync(kAll, value.y, step));
        if (threadIdx.x % 32 >= step) value = combine(left, value);
    }
    return value;
}

__global__ void numberSamples(int* order, int samples) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < samples) order[i] = i;
}

__global__ void prefixLogSum(const int* __restrict__ order, const float* __restrict__ score,
                             float* __restrict__ prefix, int samples) {
    __shared__ float2 totals[32], carry;
    if (threadIdx.x == 0) carry = make_float2(-INFINITY, 0.0f);
    for (int base = 0; base < samples; base += kThreads) {
        const int p = base + threadIdx.x;
        float2 value = make_float2(-INFINITY, 0.0f);
        if (p < samples) value = make_float2(score[order[p]], 1.0f);
        value = scanWarp(value);
        if (threadIdx.x % 32 == 31) totals[threadIdx.x / 32] = value;
        __syncthreads();
        if (threadIdx.x < 32) totals[threadIdx.x] = scanWarp(totals[threadIdx.x]);
        __syncthreads();
        if (threadIdx.x >= 32) value = combine(totals[threadIdx.x / 32 - 1], value);
        value = combine(carry, value);
        if (p < samples) prefix[p] = value.x + logf(value.y);
        __syncthreads();
        if (threadIdx.x == kThreads - 1) carry = value;
        __syncthreads();
    }
}

__global__ void writeLoss(const int* __restrict__ sortedTime, const int* __restrict__ order,
                          const uint8_t* __restrict__ event, const float* __restrict__ score,
                          const float* __restrict__ prefix, float* __restrict__ loss, int samples) {
    const int p = blockIdx.x * blockDim.x + threadIdx.x;
    if (p >= samples) return;
    const int i = order[p];
    int low = p, high = samples - 1;  // the last position of the run is in low..high
    while (low < high) {
        const int middle = low + (high - low + 1) / 2;
        if (sortedTime[middle] >= sortedTime[p]) {
            low = middle;
        } else {
            high = middle - 1;
        }
    }
    loss[i] = event[i] ? prefix[low] - score[i] : 0.0f;
}

static void check(cudaError_t status) {
    if (status != cudaSuccess) throw std::runtime_error(cudaGetErrorString(status));
}

template <typename T>
struct Buffer {
    T* data = nullptr;
    explicit Buffer(size_t count) { check(cudaMalloc(&data, count * sizeof(T))); }
    explicit Buffer(const std::vector<T>& host) : Buffer(host.size()) {
        check(cudaMemcpy(data, host.data(), host.size() * sizeof(T), cudaMemcpyHostToDevice));
    }
    Buffer(const Buffer&) = delete;
    ~Buffer() { cudaFree(data); }
};

template <typename T>
static std::vector<T> readFile(const std::string& path, size_t count) {
    std::vector<T> values(count);
    std::ifstream in(path, std::ios::binary);
    in.read(reinterpret_cast<char*>(values.data()), count * sizeof(T));
    if (!in || in.peek() != EOF) throw std::runtime_error(path + ": wrong size");
    return values;
}

static void run() {
    const int samples = readFile<int32_t>("data/sizes.bin", 1)[0];
    if (samples < 1 || samples > 1000000) throw std::runtime_error("data/sizes.bin: out of range");
    Buffer<int> time(readFile<int32_t>("data/time.bin", samples)), sortedTime(samples), index(samples), order(samples);
    Buffer<uint8_t> event(readFile<uint8_t>("data/event.bin", samples));
    Buffer<float> score(readFile<float>("data/score.bin", samples)), prefix(samples), loss(samples);

    const int blocks = (samples + 255) / 256;
    numberSamples<<<blocks, 256>>>(index.data, samples);
    check(cudaGetLastError());
    size_t bytes = 0;
    check(cub::DeviceRadixSort::SortPairsDescending(nullptr, bytes, time.data, sortedTime.data, index.data, order.data,
                                                    samples));
    Buffer<char> storage(bytes);
    check(cub::DeviceRadixSort::SortPairsDescending(storage.data, bytes, time.data, sortedTime.data, index.data,
                                                    order.data, samples));
    prefixLogSum<<<1, kThreads>>>(order.data, score.data, prefix.data, samples);
    check(cudaGetLastError());
    writeLoss<<<blocks, 256>>>(sortedTime.data, order.data, event.data, score.data, prefix.data, loss.data, samples);
    check(cudaGetLastError());

    std::vector<float> host(samples);
    check(cudaMemcpy(host.data(), loss.data, samples * sizeof(float), cudaMemcpyDeviceToHost));
    std::ofstream out("data/loss.bin", std::ios::binary);
    out.write(reinterpret_cast<const char*>(host.data()), samples * sizeof(float));
    out.close();
    if (!out) throw std::runtime_error("data/loss.bin: cannot be written");
}

int main() {
    try {
        run();
    } catch (const std::exception& error) {
        std::cerr << error.what() << std::endl;
        return 1;
    }
    return 0;
}
