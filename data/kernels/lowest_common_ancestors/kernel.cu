#include <cuda_runtime.h>

#include <cstdint>
#include <fstream>
#include <iostream>
#include <stdexcept>
#include <string>
#include <vector>

constexpr int kThreads = 256;

__global__ void doubleSteps(const int* __restrict__ steps, int* __restrict__ twice, int nodes) {
    const int v = blockIdx.x * kThreads + threadIdx.x;
    if (v < nodes) twice[v] = steps[steps[v]];
}

// up[k * nodes + v] is the node 2^k steps above v.
__device__ int depthOf(const int* up, int nodes, int levels, int root, int v) {
    int depth = 0;
    for (int k = levels - 1; k >= 0; --k) {
        const int above = up[static_cast<size_t>(k) * nodes + v];
        if (above != root) {
            v = above;
            depth += 1 << k;
        }
    }
    return v == root ? depth : depth + 1;
}

__global__ void answer(const int* __restrict__ up, const int2* __restrict__ query, int* __restrict__ ancestor,
                       int nodes, int levels, int root, int queries) {
    const int q = blockIdx.x * kThreads + threadIdx.x;
    if (q >= queries) return;
    int a = query[q].x, b = query[q].y;
    const int difference = depthOf(up, nodes, levels, root, a) - depthOf(up, nodes, levels, root, b);
    int deeper = difference > 0 ? a : b, other = difference > 0 ? b : a;
    const int lift = abs(difference);
    for (int k = 0; k < levels; ++k) {
        if (lift >> k & 1) deeper = up[static_cast<size_t>(k) * nodes + deeper];
    }
    if (deeper != other) {
        for (int k = levels - 1; k >= 0; --k) {
            const int left = up[static_cast<size_t>(k) * nodes + deeper];
            const int right = up[static_cast<size_t>(k) * nodes + other];
            if (left != right) {
                deeper = left;
                other = right;
            }
        }
        deeper = up[deeper];
    }
    ancestor[q] = deeper;
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

static void run() {
    const auto sizes = readInts("data/sizes.bin", 2);
    const int nodes = sizes[0], queries = sizes[1];
    if (nodes < 1 || nodes > 1000000 || queries < 1 || queries > 4000000) throw std::runtime_error("bad sizes");
    const auto parent = readInts("data/parent.bin", nodes);
    const auto query = readInts("data/query.bin", 2 * static_cast<size_t>(queries));
    int root = -1;
    for (int v = 0; v < nodes; ++v) {
        if (parent[v] < 0 || parent[v] >= nodes) throw std::runtime_error("data/parent.bin: no such node");
        if (parent[v] != v) continue;
        if (root >= 0) throw std::runtime_error("data/parent.bin: two roots");
        root = v;
    }
    if (root < 0) throw std::runtime_error("data/parent.bin: no root");
    for (int v : query) {
        if (v < 0 || v >= nodes) throw std::runtime_error("data/query.bin: no such node");
    }
    int levels = 1;
    while ((1 << levels) < nodes) ++levels;

    int *up = nullptr, *dAncestor = nullptr;
    int2* dQuery = nullptr;
    check(cudaMalloc(&up, static_cast<size_t>(levels) * nodes * sizeof(int)));
    check(cudaMalloc(&dAncestor, queries * sizeof(int)));
    check(cudaMalloc(&dQuery, queries * sizeof(int2)));
    check(cudaMemcpy(up, parent.data(), nodes * sizeof(int), cudaMemcpyHostToDevice));
    check(cudaMemcpy(dQuery, query.data(), queries * sizeof(int2), cudaMemcpyHostToDevice));
    for (int k = 0; k + 1 < levels; ++k) {
        const int* steps = up + static_cast<size_t>(k) * nodes;
        doubleSteps<<<(nodes + kThreads - 1) / kThreads, kThreads>>>(steps, up + (k + 1ull) * nodes, nodes);
        check(cudaGetLastError());
    }
    answer<<<(queries + kThreads - 1) / kThreads, kThreads>>>(up, dQuery, dAncestor, nodes, levels, root, queries);
    check(cudaGetLastError());
    std::vector<int> ancestor(queries);
    check(cudaMemcpy(ancestor.data(), dAncestor, queries * sizeof(int), cudaMemcpyDeviceToHost));
    check(cudaFree(up));
    check(cudaFree(dAncestor));
    check(cudaFree(dQuery));

    std::ofstream out("data/ancestor.bin", std::ios::binary);
    out.write(reinterpret_cast<const char*>(ancestor.data()), queries * sizeof(int));
    out.close();
    if (!out) throw std::runtime_error("data/ancestor.bin: cannot be written");
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
