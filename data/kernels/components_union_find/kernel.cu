#include <cuda_runtime.h>

#include <cstdint>
#include <fstream>
#include <iostream>
#include <numeric>
#include <stdexcept>
#include <string>
#include <vector>

constexpr int kThreads = 256;
constexpr int kMax = 2000000;

__device__ int findRoot(volatile int* parent, int v) {
    int up = parent[v];
    while (up != v) {
        const int next = parent[up];
        if (next != up) parent[v] = next;
        v = up;
        up = next;
    }
    return v;
}

__global__ void unite(const int2* __restrict__ edges, int* parent, int count) {
    const int e = blockIdx.x * kThreads + threadIdx.x;
    if (e >= count) return;
    int a = edges[e].x, b = edges[e].y;
    while (true) {
        a = findRoot(parent, a);
        b = findRoot(parent, b);
        if (a == b) return;
        if (a < b) {
            const int t = a;
            a = b;
            b = t;
        }
        if (atomicCAS(&parent[a], a, b) == a) return;  // otherwise somebody else gave `a` a parent
    }
}

__global__ void flatten(const int* __restrict__ parent, int* __restrict__ component, int vertices) {
    const int v = blockIdx.x * kThreads + threadIdx.x;
    if (v >= vertices) return;
    int root = v;
    while (parent[root] != root) root = parent[root];
    component[v] = root;
}

class CudaFailure : public std::runtime_error {
public:
    explicit CudaFailure(cudaError_t status) : std::runtime_error(cudaGetErrorString(status)) {}
};

void operator>>(cudaError_t status, const char*) {
    if (status != cudaSuccess) throw CudaFailure(status);
}

std::vector<int> readInts(const std::string& path, size_t count) {
    std::ifstream in(path, std::ios::binary | std::ios::ate);
    if (!in || size_t(in.tellg()) != count * sizeof(int)) throw std::invalid_argument(path + ": wrong size");
    std::vector<int> values(count);
    in.seekg(0).read(reinterpret_cast<char*>(values.data()), count * sizeof(int));
    return values;
}

int main() {
    int *edges = nullptr, *parent = nullptr, *component = nullptr;
    int code = 1;
    try {
        const auto sizes = readInts("data/sizes.bin", 2);
        const int vertices = sizes[0], count = sizes[1];
        if (vertices < 1 || vertices > kMax || count < 1 || count > kMax) throw std::invalid_argument("bad sizes");
        const auto ends = readInts("data/edges.bin", 2 * size_t(count));
        for (int v : ends) {
            if (v < 0 || v >= vertices) throw std::invalid_argument("data/edges.bin: no such vertex");
        }
        std::vector<int> labels(vertices);
        std::iota(labels.begin(), labels.end(), 0);

        cudaMalloc(&edges, ends.size() * sizeof(int)) >> "edges";
        cudaMalloc(&parent, vertices * sizeof(int)) >> "parent";
        cudaMalloc(&component, vertices * sizeof(int)) >> "component";
        cudaMemcpy(edges, ends.data(), ends.size() * sizeof(int), cudaMemcpyHostToDevice) >> "edges";
        cudaMemcpy(parent, labels.data(), vertices * sizeof(int), cudaMemcpyHostToDevice) >> "parent";
        unite<<<(count + kThreads - 1) / kThreads, kThreads>>>(reinterpret_cast<const int2*>(edges), parent, count);
        cudaGetLastError() >> "unite";
        flatten<<<(vertices + kThreads - 1) / kThreads, kThreads>>>(parent, component, vertices);
        cudaGetLastError() >> "flatten";
        cudaMemcpy(labels.data(), component, vertices * sizeof(int), cudaMemcpyDeviceToHost) >> "component";

        std::ofstream out("data/component.bin", std::ios::binary);
        out.write(reinterpret_cast<const char*>(labels.data()), vertices * sizeof(int));
        out.close();
        if (!out) throw std::runtime_error("data/component.bin: cannot be written");
        code = 0;
    } catch (const std::exception& error) {
        std::cerr << error.what() << '\n';
    }
    cudaFree(edges);
    cudaFree(parent);
    cudaFree(component);
    return code;
}
