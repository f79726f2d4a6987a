#include <cub/device/device_radix_sort.cuh>
#include <cuda_runtime.h>

#include <cstdint>
#include <fstream>
#include <iostream>
#include <stdexcept>
#include <string>
#include <vector>

constexpr int kThreads = 128;
constexpr int kMaxWidth = 512;
constexpr int kSlots = kMaxWidth / 32;

__global__ void numberUpdates(int* numbers, int updates) {
    const int u = blockIdx.x * kThreads + threadIdx.x;
    if (u < updates) numbers[u] = u;
}

__global__ void updateRows(float* weights, float* state, const int* __restrict__ sortedRows,
                           const int* __restrict__ order, const float* __restrict__ grad, int width, int updates) {
    const int p = (blockIdx.x * kThreads + threadIdx.x) / 32;
    const int lane = threadIdx.x % 32;
    if (p >= updates) return;
    const int row = sortedRows[p];
    if (p > 0 && sortedRows[p - 1] == row) return;  // not the first of its run; the same for the whole warp

    float sum[kSlots] = {};
    for (int q = p; q < updates && sortedRows[q] == row; ++q) {
        const float* g = grad + static_cast<size_t>(order[q]) * width;
#pragma unroll
        for (int s = 0; s < kSlots; ++s) {
            if (lane + 32 * s < width) sum[s] += g[lane + 32 * s];
        }
    }
    float squares = 0.0f;
#pragma unroll
    for (int s = 0; s < kSlots; ++s) squares = fmaf(sum[s], sum[s], squares);
    for (int step = 16; step > 0; step /= 2) squares += __shfl_xor_sync(0xffffffffu, squares, step);
    const float grown = state[row] + squares / width;
    const float rate = 0.1f / (sqrtf(grown) + 1e-6f);
    float* w = weights + static_cast<size_t>(row) * width;
#pragma unroll
    for (int s = 0; s < kSlots; ++s) {
        if (lane + 32 * s < width) w[lane + 32 * s] -= rate * sum[s];
    }
    __syncwarp();  // every lane has read the old state
    if (lane == 0) state[row] = grown;
}

static void check(cudaError_t status) {
    if (status != cudaSuccess) throw std::runtime_error(cudaGetErrorString(status));
}

template <typename T>
struct Device {
    T* data = nullptr;
    size_t count;
    explicit Device(size_t n) : count(n) { check(cudaMalloc(&data, n * sizeof(T))); }
    explicit Device(const std::vector<T>& host) : Device(host.size()) {
        check(cudaMemcpy(data, host.data(), count * sizeof(T), cudaMemcpyHostToDevice));
    }
    Device(const Device&) = delete;
    ~Device() { cudaFree(data); }
    void write(const std::string& path) const {
        std::vector<T> host(count);
        check(cudaMemcpy(host.data(), data, count * sizeof(T), cudaMemcpyDeviceToHost));
        std::ofstream out(path, std::ios::binary);
        out.write(reinterpret_cast<const char*>(host.data()), count * sizeof(T));
        out.close();
        if (!out) throw std::runtime_error(path + ": cannot be written");
    }
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
    const auto sizes = readFile<int32_t>("data/sizes.bin", 3);
    const int table = sizes[0], width = sizes[1], updates = sizes[2];
    if (table < 1 || table > 1000000 || width < 1 || width > kMaxWidth || updates < 1 || updates > 1000000) {
        throw std::runtime_error("data/sizes.bin: out of range");
    }
    const auto index = readFile<int32_t>("data/index.bin", updates);
    for (int row : index) {
        if (row < 0 || row >= table) throw std::runtime_error("data/index.bin: no such row");
    }
    Device<float> weights(readFile<float>("data/weights.bin", static_cast<size_t>(table) * width));
    Device<float> state(readFile<float>("data/state.bin", table));
    Device<float> grad(readFile<float>("data/grad.bin", static_cast<size_t>(updates) * width));
    Device<int> rows(index), sortedRows(updates), numbers(updates), order(updates);

    numberUpdates<<<(updates + kThreads - 1) / kThreads, kThreads>>>(numbers.data, updates);
    check(cudaGetLastError());
    size_t bytes = 0;
    check(cub::DeviceRadixSort::SortPairs(nullptr, bytes, rows.data, sortedRows.data, numbers.data, order.data,
                                          updates));
    Device<char> storage(bytes);
    check(cub::DeviceRadixSort::SortPairs(storage.data, bytes, rows.data, sortedRows.data, numbers.data, order.data,
                                          updates));
    const int warps = kThreads / 32;
    updateRows<<<(updates + warps - 1) / warps, kThreads>>>(weights.data, state.data, sortedRows.data, order.data,
                                                            grad.data, width, updates);
    check(cudaGetLastError());
    weights.write("data/new_weights.bin");
    state.write("data/new_state.bin");
}

int main() {
    try {
        run();
        return 0;
    } catch (const std::exception& error) {
        std::cerr << error.what() << std::endl;
        return 1;
    }
}
