#include <cuda_runtime.h>

#include <cstdint>
#include <fstream>
#include <iostream>
#include <numeric>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

using Key = unsigned long long;
constexpr int kThreads = 256;

__global__ void propagate(const int* __restrict__ rowPtr, const int* __restrict__ neighbors,
                          const int* __restrict__ label, int* __restrict__ next, int vertices) {
    const int v = (blockIdx.x * kThreads + threadIdx.x) / 32;
    if (v >= vertices) return;
    const int begin = rowPtr[v], end = rowPtr[v + 1];
    Key best = 0;
    for (int e = begin + threadIdx.x % 32; e < end; e += 32) {
        const int mine = label[neighbors[e]];
        unsigned count = 0;
        for (int f = begin; f < end; ++f) count += label[neighbors[f]] == mine;
        const Key key = static_cast<Key>(count) << 32 | (0xffffffffu - static_cast<unsigned>(mine));
        if (key > best) best = key;
    }
    for (int step = 16; step > 0; step /= 2) {
        const Key other = __shfl_down_sync(0xffffffffu, best, step);
        if (other > best) best = other;
    }
    if (threadIdx.x % 32 == 0) {
        next[v] = begin == end ? label[v] : static_cast<int>(0xffffffffu - static_cast<unsigned>(best));
    }
}

static void check(cudaError_t status) {
    if (status != cudaSuccess) throw std::runtime_error(cudaGetErrorString(status));
}

static std::vector<int> readInts(const std::string& path, size_t count) {
    std::ifstream in(path, std::ios::binary | std::ios::ate);
    if (!in) throw std::runtime_error(path + ": cannot be opened");
    if (static_cast<size_t>(in.tellg()) != count * sizeof(int)) throw std::runtime_error(path + ": wrong size");
    std::vector<int> values(count);
    in.seekg(0);
    in.read(reinterpret_cast<char*>(values.data()), count * sizeof(int));
    if (!in) throw std::runtime_error(path + ": cannot be read");
    return values;
}

static int* upload(const std::vector<int>& values) {
    int* device = nullptr;
    check(cudaMalloc(&device, values.size() * sizeof(int)));
    check(cudaMemcpy(device, values.data(), values.size() * sizeof(int), cudaMemcpyHostToDevice));
    return device;
}

static void run() {
    const auto sizes = readInts("data/sizes.bin", 3);
    const int vertices = sizes[0], edges = sizes[1], rounds = sizes[2];
    if (vertices < 1 || vertices > 1000000 || edges < 1 || edges > 2000000 || rounds < 1 || rounds > 50) {
        throw std::runtime_error("data/sizes.bin: out of range");
    }
    const auto rowPtr = readInts("data/row_ptr.bin", vertices + 1);
    const auto neighbors = readInts("data/neighbors.bin", 2 * static_cast<size_t>(edges));
    if (rowPtr[0] != 0 || rowPtr[vertices] != 2 * edges) throw std::runtime_error("row_ptr: wrong ends");
    for (int v = 0; v < vertices; ++v) {
        if (rowPtr[v] > rowPtr[v + 1]) throw std::runtime_error("row_ptr: decreases");
    }
    for (int w : neighbors) {
        if (w < 0 || w >= vertices) throw std::runtime_error("neighbors: no such vertex");
    }
    std::vector<int> label(vertices);
    std::iota(label.begin(), label.end(), 0);

    int *dRowPtr = upload(rowPtr), *dNeighbors = upload(neighbors), *now = upload(label), *next = upload(label);
    const int warps = kThreads / 32;
    for (int round = 0; round < rounds; ++round) {
        propagate<<<(vertices + warps - 1) / warps, kThreads>>>(dRowPtr, dNeighbors, now, next, vertices);
        check(cudaGetLastError());
        std::swap(now, next);
    }
    check(cudaMemcpy(label.data(), now, vertices * sizeof(int), cudaMemcpyDeviceToHost));
    for (int* p : {dRowPtr, dNeighbors, now, next}) check(cudaFree(p));

    std::ofstream out("data/label.bin", std::ios::binary);
    out.write(reinterpret_cast<const char*>(label.data()), vertices * sizeof(int));
    out.close();
    if (!out) throw std::runtime_error("data/label.bin: cannot be written");
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
