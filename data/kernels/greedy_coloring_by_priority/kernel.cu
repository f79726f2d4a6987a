#include <cuda_runtime.h>

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <iostream>
#include <stdexcept>
#include <string>
#include <vector>

constexpr int kThreads = 256;

__global__ void colorReady(const int* __restrict__ rowPtr, const int* __restrict__ neighbors,
                           const int* __restrict__ priority, volatile int* color, int vertices, int* colored) {
    const int v = blockIdx.x * kThreads + threadIdx.x;
    if (v >= vertices || color[v] >= 0) return;
    const int begin = rowPtr[v], end = rowPtr[v + 1], mine = priority[v];
    for (int e = begin; e < end; ++e) {
        const int w = neighbors[e];
        if (priority[w] > mine && color[w] < 0) return;
    }
    for (int window = 0;; window += 64) {
        unsigned long long used = 0;
        for (int e = begin; e < end; ++e) {
            const int w = neighbors[e];
            if (priority[w] < mine) continue;
            const int c = color[w] - window;
            if (c >= 0 && c < 64) used |= 1ull << c;
        }
        if (~used != 0) {
            color[v] = window + __ffsll(static_cast<long long>(~used)) - 1;
            break;
        }
    }
    atomicAdd(colored, 1);
}

static void check(cudaError_t status) {
    if (status != cudaSuccess) throw std::runtime_error(cudaGetErrorString(status));
}

static void require(bool good, const char* what) {
    if (!good) throw std::runtime_error(what);
}

static std::vector<int> readInts(const char* path, size_t count) {
    std::vector<int> values(count);
    std::ifstream in(path, std::ios::binary);
    in.read(reinterpret_cast<char*>(values.data()), count * sizeof(int));
    require(in && in.peek() == EOF, path);
    return values;
}

class DeviceInts {
public:
    explicit DeviceInts(const std::vector<int>& host) : count_(host.size()) {
        check(cudaMalloc(&data_, count_ * sizeof(int)));
        check(cudaMemcpy(data_, host.data(), count_ * sizeof(int), cudaMemcpyHostToDevice));
    }
    DeviceInts(const DeviceInts&) = delete;
    ~DeviceInts() { cudaFree(data_); }
    int* get() const { return data_; }
    std::vector<int> host() const {
        std::vector<int> values(count_);
        check(cudaMemcpy(values.data(), data_, count_ * sizeof(int), cudaMemcpyDeviceToHost));
        return values;
    }

private:
    int* data_ = nullptr;
    size_t count_;
};

static void run() {
    const auto sizes = readInts("data/sizes.bin", 2);
    const int vertices = sizes[0], edges = sizes[1];
    require(vertices >= 1 && vertices <= 500000 && edges >= 1 && edges <= 2000000, "data/sizes.bin: out of range");
    const auto rowPtr = readInts("data/row_ptr.bin", vertices + 1);
    const auto neighbors = readInts("data/neighbors.bin", 2 * static_cast<size_t>(edges));
    const auto priority = readInts("data/priority.bin", vertices);
    require(rowPtr[0] == 0 && rowPtr[vertices] == 2 * edges, "data/row_ptr.bin: wrong ends");
    for (int v = 0; v < vertices; ++v) {
        require(rowPtr[v] <= rowPtr[v + 1], "data/row_ptr.bin: decreases");
        for (int e = rowPtr[v]; e < rowPtr[v + 1]; ++e) {
            const int w = neighbors[e];
            require(w >= 0 && w < vertices && w != v, "data/neighbors.bin: bad vertex");
        }
    }
    auto sorted = priority;
    std::sort(sorted.begin(), sorted.end());
    require(std::adjacent_find(sorted.begin(), sorted.end()) == sorted.end(), "data/priority.bin: repeats");

    DeviceInts dRowPtr(rowPtr), dNeighbors(neighbors), dPriority(priority);
    DeviceInts color(std::vector<int>(vertices, -1)), colored(std::vector<int>(1, 0));
    for (int before = 0; before < vertices;) {
        colorReady<<<(vertices + kThreads - 1) / kThreads, kThreads>>>(dRowPtr.get(), dNeighbors.get(),
                                                                       dPriority.get(), color.get(), vertices,
                                                                       colored.get());
        check(cudaGetLastError());
        const int after = colored.host()[0];
        require(after > before, "no progress");
        before = after;
    }
    const auto result = color.host();
    std::ofstream out("data/color.bin", std::ios::binary);
    out.write(reinterpret_cast<const char*>(result.data()), vertices * sizeof(int));
    out.close();
    require(bool(out), "data/color.bin: cannot be written");
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
