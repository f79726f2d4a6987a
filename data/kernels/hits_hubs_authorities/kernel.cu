#include <cuda_runtime.h>

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <iostream>
#include <stdexcept>
#include <string>
#include <vector>

constexpr int kThreads = 256;

template <bool kForward>
__global__ void scatter(const int2* __restrict__ edges, const double* __restrict__ from, double* to, int count) {
    const int e = blockIdx.x * kThreads + threadIdx.x;
    if (e >= count) return;
    const int2 edge = edges[e];
    if (kForward) {
        atomicAdd(&to[edge.y], from[edge.x]);
    } else {
        atomicAdd(&to[edge.x], from[edge.y]);
    }
}

__global__ void sumSquares(const double* __restrict__ values, double* sum, int count) {
    double mine = 0.0;
    for (int i = blockIdx.x * kThreads + threadIdx.x; i < count; i += gridDim.x * kThreads) {
        mine += values[i] * values[i];
    }
    for (int step = 16; step > 0; step /= 2) mine += __shfl_down_sync(0xffffffffu, mine, step);
    if (threadIdx.x % 32 == 0) atomicAdd(sum, mine);
}

__global__ void scale(double* values, const double* __restrict__ squares, int count) {
    const int i = blockIdx.x * kThreads + threadIdx.x;
    if (i < count) values[i] *= rsqrt(*squares);
}

static void check(cudaError_t status) {
    if (status != cudaSuccess) throw std::runtime_error(cudaGetErrorString(status));
}

static int blocksFor(int threads) { return (threads + kThreads - 1) / kThreads; }

template <bool kForward>
static void halfRound(const int2* edges, const double* from, double* to, double* squares, int vertices, int count) {
    check(cudaMemsetAsync(to, 0, vertices * sizeof(double)));
    check(cudaMemsetAsync(squares, 0, sizeof(double)));
    scatter<kForward><<<blocksFor(count), kThreads>>>(edges, from, to, count);
    check(cudaGetLastError());
    sumSquares<<<std::min(256, blocksFor(vertices)), kThreads>>>(to, squares, vertices);
    check(cudaGetLastError());
    scale<<<blocksFor(vertices), kThreads>>>(to, squares, vertices);
    check(cudaGetLastError());
}

static std::vector<int> readInts(const std::string& path, size_t count) {
    std::vector<int> values(count);
    std::ifstream in(path, std::ios::binary);
    in.read(reinterpret_cast<char*>(values.data()), count * sizeof(int));
    if (!in || in.peek() != EOF) throw std::runtime_error(path + ": wrong size");
    return values;
}

static void saveAsFloats(const std::string& path, const double* device, int count) {
    std::vector<double> values(count);
    check(cudaMemcpy(values.data(), device, count * sizeof(double), cudaMemcpyDeviceToHost));
    const std::vector<float> narrow(values.begin(), values.end());
    std::ofstream out(path, std::ios::binary);
    out.write(reinterpret_cast<const char*>(narrow.data()), count * sizeof(float));
    out.close();
    if (!out) throw std::runtime_error(path + ": cannot be written");
}

int main() {
    try {
        const auto sizes = readInts("data/sizes.bin", 3);
        const int vertices = sizes[0], count = sizes[1], rounds = sizes[2];
        if (vertices < 1 || vertices > 1000000 || count < 1 || count > 4000000 || rounds < 1 || rounds > 50) {
            throw std::runtime_error("data/sizes.bin: out of range");
        }
        const auto ends = readInts("data/edges.bin", 2 * static_cast<size_t>(count));
        for (int v : ends) {
            if (v < 0 || v >= vertices) throw std::runtime_error("data/edges.bin: no such vertex");
        }
        int2* edges = nullptr;
        double *hub = nullptr, *authority = nullptr, *squares = nullptr;
        const std::vector<double> ones(vertices, 1.0);
        check(cudaMalloc(&edges, count * sizeof(int2)));
        check(cudaMalloc(&hub, vertices * sizeof(double)));
        check(cudaMalloc(&authority, vertices * sizeof(double)));
        check(cudaMalloc(&squares, sizeof(double)));
        check(cudaMemcpy(edges, ends.data(), count * sizeof(int2), cudaMemcpyHostToDevice));
        check(cudaMemcpy(hub, ones.data(), vertices * sizeof(double), cudaMemcpyHostToDevice));
        for (int round = 0; round < rounds; ++round) {
            halfRound<true>(edges, hub, authority, squares, vertices, count);
            halfRound<false>(edges, authority, hub, squares, vertices, count);
        }
        saveAsFloats("data/hub.bin", hub, vertices);
        saveAsFloats("data/authority.bin", authority, vertices);
        check(cudaFree(edges));
        for (double* p : {hub, authority, squares}) check(cudaFree(p));
    } catch (const std::exception& error) {
        std::cerr << error.what() << std::endl;
        return 1;
    }
    return 0;
}
