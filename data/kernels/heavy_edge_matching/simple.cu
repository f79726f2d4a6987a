#include <cuda_runtime.h>

#include <cstdint>
#include <fstream>
#include <iostream>
#include <stdexcept>
#include <string>
#include <vector>

// A thread a vertex: the best edge to a free neighbour, by weight and then by the lowest number; -1 if there is none.
__global__ void choose(const int* start, const int* incident, const int* ends, const int* weights, const int* mate,
                       int* choice, int vertices) {
    const int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v >= vertices) return;
    int best = -1;
    for (int k = start[v]; mate[v] < 0 && k < start[v + 1]; ++k) {
        const int edge = incident[k];  // ascending
        const int other = ends[2 * edge] + ends[2 * edge + 1] - v;
        if (mate[other] < 0 && (best < 0 || weights[edge] > weights[best])) best = edge;
    }
    choice[v] = best;
}

// A thread an edge: joins its ends if both have chosen it.
__global__ void join(const int* ends, const int* weights, const int* choice, int* mate, unsigned long long* total,
                     int* joined, int edges) {
    const int e = blockIdx.x * blockDim.x + threadIdx.x;
    if (e >= edges) return;
    const int u = ends[2 * e], v = ends[2 * e + 1];
    if (choice[u] != e || choice[v] != e) return;
    mate[u] = v;
    mate[v] = u;
    atomicAdd(total, (unsigned long long)weights[e]);
    *joined = 1;
}

void check(cudaError_t status) {
    if (status != cudaSuccess) throw std::runtime_error(cudaGetErrorString(status));
}

template <typename T>
T* managed(size_t count) {
    T* memory = nullptr;
    check(cudaMallocManaged(&memory, count * sizeof(T)));
    return memory;
}

int* readInts(const std::string& path, size_t count) {
    int* values = managed<int>(count);
    std::ifstream in(path, std::ios::binary);
    if (!in.read(reinterpret_cast<char*>(values), count * sizeof(int)) || in.peek() != EOF) {
        throw std::runtime_error(path + ": expected " + std::to_string(count) + " values");
    }
    return values;
}

void save(const std::string& path, const void* values, size_t bytes) {
    std::ofstream out(path, std::ios::binary);
    out.write(static_cast<const char*>(values), bytes);
    out.close();
    if (!out) throw std::runtime_error(path + ": cannot be written");
}

void run() {
    const int* sizes = readInts("data/sizes.bin", 2);
    const int vertices = sizes[0], edges = sizes[1];
    if (vertices < 2 || vertices > 500000 || edges < 1 || edges > 2000000) {
        throw std::runtime_error("data/sizes.bin: out of range");
    }
    const int* ends = readInts("data/ends.bin", 2 * (size_t)edges);
    const int* weights = readInts("data/weights.bin", edges);

    // The edges at each vertex, in ascending order.
    int *start = managed<int>(vertices + 1), *incident = managed<int>(2 * (size_t)edges);
    std::vector<int> degree(vertices);
    for (int k = 0; k < 2 * edges; ++k) {
        if (ends[k] < 0 || ends[k] >= vertices || ends[k] == ends[k ^ 1]) throw std::runtime_error("data/ends.bin");
        if (weights[k / 2] < 0) throw std::runtime_error("data/weights.bin: negative");
        ++degree[ends[k]];
    }
    start[0] = 0;
    for (int v = 0; v < vertices; ++v) start[v + 1] = start[v] + degree[v];
    std::vector<int> next(start, start + vertices);
    for (int k = 0; k < 2 * edges; ++k) incident[next[ends[k]]++] = k / 2;

    int *mate = managed<int>(vertices), *choice = managed<int>(vertices), *joined = managed<int>(1);
    auto* total = managed<unsigned long long>(1);
    for (int v = 0; v < vertices; ++v) mate[v] = -1;
    *total = 0;
    do {
        *joined = 0;
        choose<<<(vertices + 255) / 256, 256>>>(start, incident, ends, weights, mate, choice, vertices);
        join<<<(edges + 255) / 256, 256>>>(ends, weights, choice, mate, total, joined, edges);
        check(cudaGetLastError());
        check(cudaDeviceSynchronize());
    } while (*joined);
    save("data/mate.bin", mate, vertices * sizeof(int));
    save("data/total.bin", total, sizeof *total);
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
