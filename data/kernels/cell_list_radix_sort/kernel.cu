#include <cub/device/device_radix_sort.cuh>
#include <cuda_runtime.h>

#include <cstdio>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

constexpr int kThreads = 256;
constexpr int kMaxParticles = 4194304, kMaxSide = 128;

__device__ __forceinline__ int cellAlong(float coordinate, int side) {
    return min(static_cast<int>(coordinate * static_cast<float>(side)), side - 1);
}

__global__ void assignCells(const float* __restrict__ positions, int* __restrict__ cells, int* __restrict__ particles,
                            int count, int side) {
    const int i = blockIdx.x * kThreads + threadIdx.x;
    if (i >= count) return;
    const float* p = positions + 3 * static_cast<size_t>(i);
    cells[i] = (cellAlong(p[2], side) * side + cellAlong(p[1], side)) * side + cellAlong(p[0], side);
    particles[i] = i;
}

// The first particle of a cell also marks the empty cells before it; the last one closes the table.
__global__ void findStarts(const int* __restrict__ sortedCells, int* __restrict__ starts, int count, int cells) {
    const int i = blockIdx.x * kThreads + threadIdx.x;
    if (i >= count) return;
    const int cell = sortedCells[i];
    const int before = i == 0 ? -1 : sortedCells[i - 1];
    for (int c = before + 1; c <= cell; ++c) starts[c] = i;
    if (i == count - 1) {
        for (int c = cell + 1; c <= cells; ++c) starts[c] = count;
    }
}

static void check(cudaError_t status) {
    if (status != cudaSuccess) throw std::runtime_error(cudaGetErrorString(status));
}

template <typename T>
class DeviceArray {
public:
    explicit DeviceArray(size_t count) : count_(count) { check(cudaMalloc(&data_, count * sizeof(T))); }
    explicit DeviceArray(const std::vector<T>& host) : DeviceArray(host.size()) {
        check(cudaMemcpy(data_, host.data(), count_ * sizeof(T), cudaMemcpyHostToDevice));
    }
    DeviceArray(const DeviceArray&) = delete;
    DeviceArray& operator=(const DeviceArray&) = delete;
    ~DeviceArray() { cudaFree(data_); }

    T* get() { return data_; }
    std::vector<T> toHost() const {
        std::vector<T> host(count_);
        check(cudaMemcpy(host.data(), data_, count_ * sizeof(T), cudaMemcpyDeviceToHost));
        return host;
    }

private:
    T* data_ = nullptr;
    size_t count_;
};

template <typename T>
static std::vector<T> readFile(const std::string& path, size_t count) {
    std::vector<T> values(count);
    std::ifstream in(path, std::ios::binary | std::ios::ate);
    if (!in) throw std::runtime_error(path + ": cannot be opened");
    if (static_cast<size_t>(in.tellg()) != count * sizeof(T)) throw std::runtime_error(path + ": wrong length");
    in.seekg(0);
    in.read(reinterpret_cast<char*>(values.data()), count * sizeof(T));
    if (!in) throw std::runtime_error(path + ": cannot be read");
    return values;
}

template <typename T>
static void writeFile(const std::string& path, const std::vector<T>& values) {
    std::ofstream out(path, std::ios::binary);
    out.write(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T));
    out.close();
    if (!out) throw std::runtime_error(path + ": cannot be written");
}

static void run() {
    const std::vector<int> sizes = readFile<int>("data/sizes.bin", 2);
    const int count = sizes[0], side = sizes[1];
    if (count < 1 || count > kMaxParticles || side < 1 || side > kMaxSide) {
        throw std::runtime_error("data/sizes.bin: particles or side is out of range");
    }
    const std::vector<float> host = readFile<float>("data/positions.bin", 3 * static_cast<size_t>(count));
    for (float coordinate : host) {
        if (!(coordinate >= 0.0f && coordinate <= 1.0f)) {
            throw std::runtime_error("data/positions.bin: a particle is outside the unit cube");
        }
    }
    const int cells = side * side * side;
    int bits = 1;  // of the largest key, cells - 1
    while (((cells - 1) >> bits) > 0) ++bits;

    DeviceArray<float> positions(host);
    DeviceArray<int> keys(count), sortedKeys(count), particles(count), order(count), starts(cells + 1);
    const int blocks = (count + kThreads - 1) / kThreads;
    assignCells<<<blocks, kThreads>>>(positions.get(), keys.get(), particles.get(), count, side);
    check(cudaGetLastError());

    size_t scratchBytes = 0;  // the first call only asks for the size
    check(cub::DeviceRadixSort::SortPairs(nullptr, scratchBytes, keys.get(), sortedKeys.get(), particles.get(),
                                          order.get(), count, 0, bits));
    DeviceArray<unsigned char> scratch(scratchBytes);
    check(cub::DeviceRadixSort::SortPairs(scratch.get(), scratchBytes, keys.get(), sortedKeys.get(), particles.get(),
                                          order.get(), count, 0, bits));

    findStarts<<<blocks, kThreads>>>(sortedKeys.get(), starts.get(), count, cells);
    check(cudaGetLastError());
    writeFile("data/order.bin", order.toHost());
    writeFile("data/cell_starts.bin", starts.toHost());
}

int main() {
    try {
        run();
    } catch (const std::exception& error) {
        std::fprintf(stderr, "%s\n", error.what());
        return 1;
    }
    return 0;
}
