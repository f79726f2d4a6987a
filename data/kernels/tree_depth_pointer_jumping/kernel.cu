#include <cuda_runtime.h>

#include <cstdint>
#include <fstream>
#include <iostream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

constexpr int kThreads = 256;

__global__ void start(const int* __restrict__ parent, int2* __restrict__ up, int nodes) {
    const int v = blockIdx.x * kThreads + threadIdx.x;
    if (v < nodes) up[v] = make_int2(parent[v], parent[v] != v);
}

__global__ void jump(const int2* __restrict__ from, int2* __restrict__ to, int nodes) {
    const int v = blockIdx.x * kThreads + threadIdx.x;
    if (v >= nodes) return;
    const int2 near = from[v], far = from[near.x];
    to[v] = make_int2(far.x, near.y + far.y);
}

__global__ void split(const int2* __restrict__ up, int* __restrict__ depth, int* __restrict__ root, int nodes) {
    const int v = blockIdx.x * kThreads + threadIdx.x;
    if (v >= nodes) return;
    root[v] = up[v].x;
    depth[v] = up[v].y;
}

static void check(cudaError_t status) {
    if (status != cudaSuccess) throw std::runtime_error(cudaGetErrorString(status));
}

static std::vector<int> readInts(const char* path, size_t count) {
    std::vector<int> values(count);
    std::ifstream in(path, std::ios::binary);
    if (!in.read(reinterpret_cast<char*>(values.data()), count * sizeof(int)) || in.peek() != EOF) {
        throw std::runtime_error(std::string(path) + ": expected " + std::to_string(count) + " integers");
    }
    return values;
}

static void writeInts(const char* path, const int* device, size_t count) {
    std::vector<int> values(count);
    check(cudaMemcpy(values.data(), device, count * sizeof(int), cudaMemcpyDeviceToHost));
    std::ofstream out(path, std::ios::binary);
    out.write(reinterpret_cast<const char*>(values.data()), count * sizeof(int));
    out.close();
    if (!out) throw std::runtime_error(std::string(path) + ": cannot be written");
}

int main() {
    int *parent = nullptr, *depth = nullptr, *root = nullptr;
    int2 *up = nullptr, *next = nullptr;
    int status = 0;
    try {
        const int nodes = readInts("data/sizes.bin", 1)[0];
        if (nodes < 1 || nodes > 4000000) throw std::runtime_error("data/sizes.bin: out of range");
        const auto parents = readInts("data/parent.bin", nodes);
        for (int p : parents) {
            if (p < 0 || p >= nodes) throw std::runtime_error("data/parent.bin: no such node");
        }
        check(cudaMalloc(&parent, nodes * sizeof(int)));
        check(cudaMalloc(&depth, nodes * sizeof(int)));
        check(cudaMalloc(&root, nodes * sizeof(int)));
        check(cudaMalloc(&up, nodes * sizeof(int2)));
        check(cudaMalloc(&next, nodes * sizeof(int2)));
        check(cudaMemcpy(parent, parents.data(), nodes * sizeof(int), cudaMemcpyHostToDevice));

        const int blocks = (nodes + kThreads - 1) / kThreads;
        start<<<blocks, kThreads>>>(parent, up, nodes);
        check(cudaGetLastError());
        for (int span = 1; span < nodes; span *= 2) {
            jump<<<blocks, kThreads>>>(up, next, nodes);
            check(cudaGetLastError());
            std::swap(up, next);
        }
        split<<<blocks, kThreads>>>(up, depth, root, nodes);
        check(cudaGetLastError());
        writeInts("data/depth.bin", depth, nodes);
        writeInts("data/root.bin", root, nodes);
    } catch (const std::exception& error) {
        std::cerr << error.what() << std::endl;
        status = 1;
    }
    cudaFree(parent);
    cudaFree(depth);
    cudaFree(root);
    cudaFree(up);
    cudaFree(next);
    return status;
}
