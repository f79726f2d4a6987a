#include <cuda_runtime.h>

#include <cstdint>
#include <fstream>
#include <iostream>
#include <numeric>
#include <stdexcept>
#include <string>
#include <vector>

constexpr int kThreads = 256;

__device__ int rootOf(volatile int* parent, int n) {
    int up = parent[n];
    while (up != n) {
        const int next = parent[up];
        if (next != up) parent[n] = next;
        n = up;
        up = next;
    }
    return n;
}

__device__ void unite(int* parent, int a, int b) {
    while (true) {
        a = rootOf(parent, a);
        b = rootOf(parent, b);
        if (a == b) return;
        const int large = max(a, b), small = min(a, b);
        if (atomicCAS(&parent[large], large, small) == large) return;
    }
}

__global__ void uniteOpposites(const int2* __restrict__ edges, int* parent, int count) {
    const int e = blockIdx.x * kThreads + threadIdx.x;
    if (e >= count) return;
    const int2 edge = edges[e];
    unite(parent, 2 * edge.x, 2 * edge.y + 1);
    unite(parent, 2 * edge.x + 1, 2 * edge.y);
}

__global__ void readSides(const int* __restrict__ parent, int* __restrict__ side, uint8_t* __restrict__ odd,
                          int vertices) {
    const int v = blockIdx.x * kThreads + threadIdx.x;
    if (v >= vertices) return;
    int first = 2 * v, second = 2 * v + 1;
    while (parent[first] != first) first = parent[first];
    while (parent[second] != second) second = parent[second];
    odd[v] = first == second;
    side[v] = first == second ? -1 : first > second;
}

static void check(cudaError_t status) {
    if (status != cudaSuccess) throw std::runtime_error(cudaGetErrorString(status));
}

static std::vector<int> readInts(const std::string& path, size_t count) {
    std::vector<int> values(count);
    std::ifstream in(path, std::ios::binary);
    in.read(reinterpret_cast<char*>(values.data()), count * sizeof(int));
    if (!in || in.peek() != EOF) throw std::runtime_error(path + ": wrong size");
    return values;
}

template <typename T>
static void writeFile(const std::string& path, const T* device, size_t count) {
    std::vector<T> values(count);
    check(cudaMemcpy(values.data(), device, count * sizeof(T), cudaMemcpyDeviceToHost));
    std::ofstream out(path, std::ios::binary);
    out.write(reinterpret_cast<const char*>(values.data()), count * sizeof(T));
    out.close();
    if (!out) throw std::runtime_error(path + ": cannot be written");
}

int main() {
    try {
        const auto sizes = readInts("data/sizes.bin", 2);
        const int vertices = sizes[0], count = sizes[1];
        if (vertices < 1 || vertices > 500000 || count < 1 || count > 2000000) throw std::runtime_error("bad sizes");
        const auto ends = readInts("data/edges.bin", 2 * static_cast<size_t>(count));
        for (int v : ends) {
            if (v < 0 || v >= vertices) throw std::runtime_error("data/edges.bin: no such vertex");
        }
        std::vector<int> own(2 * static_cast<size_t>(vertices));
        std::iota(own.begin(), own.end(), 0);

        int2* edges = nullptr;
        int *parent = nullptr, *side = nullptr;
        uint8_t* odd = nullptr;
        check(cudaMalloc(&edges, count * sizeof(int2)));
        check(cudaMalloc(&parent, own.size() * sizeof(int)));
        check(cudaMalloc(&side, vertices * sizeof(int)));
        check(cudaMalloc(&odd, vertices));
        check(cudaMemcpy(edges, ends.data(), count * sizeof(int2), cudaMemcpyHostToDevice));
        check(cudaMemcpy(parent, own.data(), own.size() * sizeof(int), cudaMemcpyHostToDevice));
        uniteOpposites<<<(count + kThreads - 1) / kThreads, kThreads>>>(edges, parent, count);
        check(cudaGetLastError());
        readSides<<<(vertices + kThreads - 1) / kThreads, kThreads>>>(parent, side, odd, vertices);
        check(cudaGetLastError());
        writeFile("data/side.bin", side, vertices);
        writeFile("data/odd_component.bin", odd, vertices);
        check(cudaFree(edges));
        check(cudaFree(parent));
        check(cudaFree(side));
        check(cudaFree(odd));
    } catch (const std::exception& error) {
        std::cerr << error.what() << std::endl;
        return 1;
    }
    return 0;
}
