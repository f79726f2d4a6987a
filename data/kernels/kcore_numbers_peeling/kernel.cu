#include <cuda_runtime.h>

#include <cstdint>
#include <fstream>
#include <iostream>
#include <stdexcept>
#include <string>
#include <vector>

constexpr int kThreads = 256;

__global__ void collect(const int* __restrict__ degree, int* core, int* queue, int* end, int vertices, int k) {
    const int v = blockIdx.x * kThreads + threadIdx.x;
    if (v < vertices && core[v] < 0 && degree[v] <= k) {
        core[v] = k;
        queue[atomicAdd(end, 1)] = v;
    }
}

__global__ void peel(const int* __restrict__ rowPtr, const int* __restrict__ neighbors, int* degree, int* core,
                     int* queue, int* end, int begin, int count, int k) {
    const int i = blockIdx.x * kThreads + threadIdx.x;
    if (i >= count) return;
    const int v = queue[begin + i];
    for (int e = rowPtr[v]; e < rowPtr[v + 1]; ++e) {
        const int w = neighbors[e];
        if (atomicSub(&degree[w], 1) == k + 1) {
            core[w] = k;
            queue[atomicAdd(end, 1)] = w;
        }
    }
}

static void check(cudaError_t status) {
    if (status != cudaSuccess) throw std::runtime_error(cudaGetErrorString(status));
}

static void require(bool good, const char* message) {
    if (!good) throw std::runtime_error(message);
}

static std::vector<int> readInts(const char* path, size_t count) {
    std::vector<int> values(count);
    std::ifstream in(path, std::ios::binary | std::ios::ate);
    require(in && static_cast<size_t>(in.tellg()) == count * sizeof(int), path);
    in.seekg(0);
    require(bool(in.read(reinterpret_cast<char*>(values.data()), count * sizeof(int))), path);
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
    operator int*() { return data_; }
    std::vector<int> read() const {
        std::vector<int> host(count_);
        check(cudaMemcpy(host.data(), data_, count_ * sizeof(int), cudaMemcpyDeviceToHost));
        return host;
    }

private:
    int* data_ = nullptr;
    size_t count_;
};

static int blocksFor(int threads) { return (threads + kThreads - 1) / kThreads; }

static void run() {
    const auto sizes = readInts("data/sizes.bin", 2);
    const int vertices = sizes[0], edges = sizes[1];
    require(vertices >= 2 && vertices <= 500000 && edges >= 1 && edges <= 2000000, "sizes: out of range");
    const auto rowPtr = readInts("data/row_ptr.bin", vertices + 1);
    const auto neighbors = readInts("data/neighbors.bin", 2 * size_t(edges));
    require(rowPtr[0] == 0 && rowPtr[vertices] == 2 * edges, "row_ptr: wrong ends");
    std::vector<int> degree(vertices);
    for (int v = 0; v < vertices; ++v) {
        degree[v] = rowPtr[v + 1] - rowPtr[v];
        require(degree[v] >= 0, "row_ptr: decreases");
    }
    for (int w : neighbors) require(w >= 0 && w < vertices, "neighbors: no such vertex");

    DeviceInts dRowPtr(rowPtr), dNeighbors(neighbors), dDegree(degree), core(std::vector<int>(vertices, -1));
    DeviceInts queue(std::vector<int>(vertices, 0)), end(std::vector<int>(1, 0));
    int handled = 0;
    for (int k = 0; handled < vertices; ++k) {
        collect<<<blocksFor(vertices), kThreads>>>(dDegree, core, queue, end, vertices, k);
        check(cudaGetLastError());
        int queued = end.read()[0];
        while (handled < queued) {
            peel<<<blocksFor(queued - handled), kThreads>>>(dRowPtr, dNeighbors, dDegree, core, queue, end, handled,
                                                            queued - handled, k);
            check(cudaGetLastError());
            handled = queued;
            queued = end.read()[0];
        }
    }

    const auto result = core.read();
    std::ofstream out("data/core.bin", std::ios::binary);
    out.write(reinterpret_cast<const char*>(result.data()), result.size() * sizeof(int));
    out.close();
    require(bool(out), "data/core.bin: cannot be written");
}

int main() {
    try {
        run();
        return 0;
    } catch (const std::exception& error) {
        std::cerr << error.what() << '\n';
        return 1;
    }
}
