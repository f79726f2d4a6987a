#include <cuda_runtime.h>

#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

constexpr int kThreads = 256;

__global__ void expandFrontier(const int* __restrict__ rowPtr, const int* __restrict__ neighbors,
                               const int* __restrict__ frontier, int frontierSize, int depth, int* level,
                               int* __restrict__ next, int* nextSize) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= frontierSize) return;
    const int v = frontier[i];
    for (int e = rowPtr[v]; e < rowPtr[v + 1]; ++e) {
        const int w = neighbors[e];
        if (level[w] == -1 && atomicCAS(&level[w], -1, depth) == -1) next[atomicAdd(nextSize, 1)] = w;
    }
}

namespace {

void check(cudaError_t status, const char* what) {
    if (status != cudaSuccess) throw std::runtime_error(std::string(what) + ": " + cudaGetErrorString(status));
}

std::vector<int> readInts(const char* path, size_t count) {
    std::vector<int> values(count);
    std::ifstream file(path, std::ios::binary);
    file.read(reinterpret_cast<char*>(values.data()), static_cast<std::streamsize>(count * sizeof(int)));
    if (!file || file.peek() != std::ifstream::traits_type::eof()) {
        throw std::runtime_error(std::string(path) + " does not hold " + std::to_string(count) + " values");
    }
    return values;
}

class Ints {  // device memory
public:
    explicit Ints(size_t count) { check(cudaMalloc(&data, count * sizeof(int)), "cudaMalloc"); }
    explicit Ints(const std::vector<int>& host) : Ints(host.size()) {
        check(cudaMemcpy(data, host.data(), host.size() * sizeof(int), cudaMemcpyHostToDevice), "upload");
    }
    Ints(const Ints&) = delete;
    ~Ints() { cudaFree(data); }
    int* data = nullptr;
};

void run() {
    const auto sizes = readInts("data/sizes.bin", 2);
    const int vertices = sizes[0], edges = sizes[1];
    if (vertices < 1 || vertices > 2000000 || edges < 1 || edges > 8000000) throw std::runtime_error("bad sizes");
    const auto rowPtr = readInts("data/row_ptr.bin", vertices + 1);
    const auto neighbors = readInts("data/neighbors.bin", edges);
    const int source = readInts("data/source.bin", 1)[0];
    if (rowPtr[0] != 0 || rowPtr[vertices] != edges) throw std::runtime_error("row_ptr: bad ends");
    for (int v = 0; v < vertices; ++v) {
        if (rowPtr[v] > rowPtr[v + 1]) throw std::runtime_error("row_ptr: decreases");
    }
    for (int w : neighbors) {
        if (w < 0 || w >= vertices) throw std::runtime_error("neighbors: no such vertex");
    }
    if (source < 0 || source >= vertices) throw std::runtime_error("source: no such vertex");

    std::vector<int> level(vertices, -1);
    level[source] = 0;
    Ints dRowPtr(rowPtr), dNeighbors(neighbors), dLevel(level), queueA(vertices), queueB(vertices);
    int *frontier = queueA.data, *next = queueB.data;
    check(cudaMemcpy(frontier, &source, sizeof(int), cudaMemcpyHostToDevice), "first frontier");
    int* nextSize = nullptr;
    check(cudaMallocManaged(&nextSize, sizeof(int)), "counter");

    int size = 1;
    for (int depth = 1; size > 0; ++depth) {
        *nextSize = 0;
        expandFrontier<<<(size + kThreads - 1) / kThreads, kThreads>>>(dRowPtr.data, dNeighbors.data, frontier, size,
                                                                       depth, dLevel.data, next, nextSize);
        check(cudaGetLastError(), "launch");
        check(cudaDeviceSynchronize(), "expandFrontier");
        size = *nextSize;
        std::swap(frontier, next);
    }
    check(cudaFree(nextSize), "cudaFree");
    check(cudaMemcpy(level.data(), dLevel.data, level.size() * sizeof(int), cudaMemcpyDeviceToHost), "download");

    std::ofstream out("data/level.bin", std::ios::binary);
    out.write(reinterpret_cast<const char*>(level.data()), level.size() * sizeof(int));
    out.close();
    if (!out) throw std::runtime_error("data/level.bin: cannot be written");
}

}  // namespace

int main() {
    try {
        run();
        return 0;
    } catch (const std::exception& error) {
        std::cerr << error.what() << std::endl;
        return 1;
    }
}
