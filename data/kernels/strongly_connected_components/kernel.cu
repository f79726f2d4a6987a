#include <cuda_runtime.h>

#include <cstdint>
#include <fstream>
#include <iostream>
#include <stdexcept>
#include <string>
#include <vector>

constexpr int kThreads = 256;
constexpr int kSweeps = 16;  // between two looks at the flag

__global__ void startColors(const int* __restrict__ component, int* __restrict__ color, int vertices, int* remaining) {
    const int v = blockIdx.x * kThreads + threadIdx.x;
    if (v >= vertices) return;
    const bool active = component[v] < 0;
    color[v] = active ? v : -1;
    if (active) *remaining = 1;
}

// Vertices that are not active have colour -1 and neither give nor take.
__global__ void spreadColors(const int2* __restrict__ edges, int* color, int count, int* changed) {
    const int e = blockIdx.x * kThreads + threadIdx.x;
    if (e >= count) return;
    const int from = color[edges[e].x];
    if (from < 0 || color[edges[e].y] < 0) return;
    if (atomicMax(&color[edges[e].y], from) < from) *changed = 1;
}

__global__ void markRoots(const int* __restrict__ color, int* component, int vertices) {
    const int v = blockIdx.x * kThreads + threadIdx.x;
    if (v < vertices && color[v] == v) component[v] = v;
}

__global__ void spreadMembers(const int2* __restrict__ edges, const int* __restrict__ color, volatile int* component,
                              int count, int* changed) {
    const int e = blockIdx.x * kThreads + threadIdx.x;
    if (e >= count) return;
    const int from = edges[e].x, to = edges[e].y;
    if (color[from] < 0 || color[from] != color[to]) return;
    if (component[from] < 0 && component[to] >= 0) {
        component[from] = color[from];
        *changed = 1;
    }
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
    const int vertices = sizes[0], count = sizes[1];
    if (vertices < 1 || vertices > 200000 || count < 1 || count > 1000000) throw std::runtime_error("bad sizes");
    const auto ends = readInts("data/edges.bin", 2 * static_cast<size_t>(count));
    for (int v : ends) {
        if (v < 0 || v >= vertices) throw std::runtime_error("data/edges.bin: no such vertex");
    }
    int2* edges = nullptr;
    int *color = nullptr, *component = nullptr, *flag = nullptr;
    check(cudaMalloc(&edges, count * sizeof(int2)));
    check(cudaMalloc(&color, vertices * sizeof(int)));
    check(cudaMalloc(&component, vertices * sizeof(int)));
    check(cudaMallocManaged(&flag, sizeof(int)));
    check(cudaMemcpy(edges, ends.data(), count * sizeof(int2), cudaMemcpyHostToDevice));
    check(cudaMemset(component, 0xff, vertices * sizeof(int)));

    const int perVertex = (vertices + kThreads - 1) / kThreads, perEdge = (count + kThreads - 1) / kThreads;
    while (true) {
        *flag = 0;
        startColors<<<perVertex, kThreads>>>(component, color, vertices, flag);
        check(cudaGetLastError());
        check(cudaDeviceSynchronize());
        if (*flag == 0) break;
        do {
            *flag = 0;
            for (int sweep = 0; sweep < kSweeps; ++sweep) {
                spreadColors<<<perEdge, kThreads>>>(edges, color, count, flag);
            }
            check(cudaGetLastError());
            check(cudaDeviceSynchronize());
        } while (*flag != 0);
        markRoots<<<perVertex, kThreads>>>(color, component, vertices);
        check(cudaGetLastError());
        check(cudaDeviceSynchronize());
        do {
            *flag = 0;
            for (int sweep = 0; sweep < kSweeps; ++sweep) {
                spreadMembers<<<perEdge, kThreads>>>(edges, color, component, count, flag);
            }
            check(cudaGetLastError());
            check(cudaDeviceSynchronize());
        } while (*flag != 0);
    }
    std::vector<int> result(vertices);
    check(cudaMemcpy(result.data(), component, vertices * sizeof(int), cudaMemcpyDeviceToHost));
    check(cudaFree(edges));
    for (int* p : {color, component, flag}) check(cudaFree(p));

    std::ofstream out("data/component.bin", std::ios::binary);
    out.write(reinterpret_cast<const char*>(result.data()), vertices * sizeof(int));
    out.close();
    if (!out) throw std::runtime_error("data/component.bin: cannot be written");
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
