#include <cuda_runtime.h>

#include <cstdint>
#include <exception>
#include <fstream>
#include <iostream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

constexpr int kThreads = 256, kCapacity = 8191;

__global__ void knapsack(const int* weights, const int* values, int items, int capacity, int* best) {
    extern __shared__ int tables[];
    int *from = tables, *to = tables + capacity + 1;
    for (int c = threadIdx.x; c <= capacity; c += kThreads) from[c] = 0;
    __syncthreads();
    const size_t first = static_cast<size_t>(blockIdx.x) * items;
    for (int i = 0; i < items; ++i) {
        const int weight = weights[first + i], value = values[first + i];
        for (int c = threadIdx.x; c <= capacity; c += kThreads)
            to[c] = c >= weight ? max(from[c], from[c - weight] + value) : from[c];
        __syncthreads();
        int* swap = from;
        from = to;
        to = swap;
    }
    int* row = best + static_cast<size_t>(blockIdx.x) * (capacity + 1);
    for (int c = threadIdx.x; c <= capacity; c += kThreads) row[c] = from[c];
}

static void require(bool condition, const std::string& message) {
    if (!condition) throw std::runtime_error(message);
}

static void ok(cudaError_t status) { require(status == cudaSuccess, cudaGetErrorString(status)); }

template <typename T>
std::vector<T> load(const std::string& path, size_t count) {
    std::vector<T> host(count);
    std::ifstream file(path, std::ios::binary);
    file.read(reinterpret_cast<char*>(host.data()), static_cast<std::streamsize>(count * sizeof(T)));
    require(file && file.peek() == std::ifstream::traits_type::eof(), path + ": missing or of another length");
    return host;
}

// Device memory that frees itself.
template <typename T>
class Buffer {
public:
    explicit Buffer(size_t count) : count_(count) { ok(cudaMalloc(&data_, count * sizeof(T))); }
    explicit Buffer(const std::vector<T>& host) : Buffer(host.size()) {
        ok(cudaMemcpy(data_, host.data(), count_ * sizeof(T), cudaMemcpyHostToDevice));
    }
    Buffer(const Buffer&) = delete;
    Buffer& operator=(const Buffer&) = delete;
    ~Buffer() { cudaFree(data_); }
    T* get() const { return data_; }
    size_t bytes() const { return count_ * sizeof(T); }
    void save(const std::string& path) const {
        std::vector<T> host(count_);
        ok(cudaMemcpy(host.data(), data_, bytes(), cudaMemcpyDeviceToHost));
        std::ofstream file(path, std::ios::binary);
        file.write(reinterpret_cast<const char*>(host.data()), static_cast<std::streamsize>(bytes()));
        file.close();
        require(!file.fail(), path + ": cannot be written");
    }

private:
    T* data_ = nullptr;
    size_t count_;
};

static void run() {
    const std::vector<int> sizes = load<int>("data/sizes.bin", 3);
    const int problems = sizes[0], items = sizes[1], capacity = sizes[2];
    require(problems >= 1 && problems <= 65535 && items >= 1 && items <= 1024, "data/sizes.bin: problems or items");
    require(capacity >= 1 && capacity <= kCapacity, "data/sizes.bin: capacity");
    const size_t count = static_cast<size_t>(problems) * items;
    const std::vector<int> heavy = load<int>("data/weights.bin", count), worth = load<int>("data/values.bin", count);
    for (int weight : heavy) require(weight >= 1, "data/weights.bin: a weight is below 1");
    for (int value : worth) require(value >= 0 && value <= 1000000, "data/values.bin: a value is out of range");

    const Buffer<int> weights(heavy), values(worth), best(static_cast<size_t>(problems) * (capacity + 1));
    const int bytes = 2 * (capacity + 1) * static_cast<int>(sizeof(int));
    ok(cudaFuncSetAttribute(knapsack, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
    knapsack<<<problems, kThreads, bytes>>>(weights.get(), values.get(), items, capacity, best.get());
    ok(cudaGetLastError());
    best.save("data/best.bin");
}

int main() {
    try {
        run();
    } catch (const std::exception& error) {
        std::cerr << error.what() << '\n';
        return 1;
    }
    return 0;
}
