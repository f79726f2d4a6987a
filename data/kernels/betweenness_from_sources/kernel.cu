#include <cuda_runtime.h>

#include <cstdint>
#include <fstream>
#include <iostream>
#include <stdexcept>
#include <string>
#include <vector>

constexpr int kThreads = 256;

__global__ void startSearch(int* level, double* sigma, double* delta, int vertices, int source) {
    const int v = blockIdx.x * kThreads + threadIdx.x;
    if (v >= vertices) return;
    level[v] = v == source ? 0 : -1;
    sigma[v] = v == source ? 1.0 : 0.0;
    delta[v] = 0.0;
}

__global__ void forward(const int* __restrict__ rowPtr, const int* __restrict__ neighbors, int* level, double* sigma,
                        int vertices, int depth, int* grown) {
    const int v = blockIdx.x * kThreads + threadIdx.x;
    if (v >= vertices || level[v] != depth) return;
    const double paths = sigma[v];
    for (int e = rowPtr[v]; e < rowPtr[v + 1]; ++e) {
        const int w = neighbors[e];
        const int before = atomicCAS(&level[w], -1, depth + 1);
        if (before == -1) *grown = 1;
        if (before == -1 || before == depth + 1) atomicAdd(&sigma[w], paths);
    }
}

__global__ void backward(const int* __restrict__ rowPtr, const int* __restrict__ neighbors,
                         const int* __restrict__ level, const double* __restrict__ sigma, double* delta,
                         double* centrality, int vertices, int depth) {
    const int v = blockIdx.x * kThreads + threadIdx.x;
    if (v >= vertices || level[v] != depth) return;
    double sum = 0.0;
    for (int e = rowPtr[v]; e < rowPtr[v + 1]; ++e) {
        const int w = neighbors[e];
        if (level[w] == depth + 1) sum += sigma[v] / sigma[w] * (1.0 + delta[w]);
    }
    delta[v] = sum;
    if (depth > 0) centrality[v] += sum;  // only the source has depth 0
}

static void check(cudaError_t status) {
    if (status != cudaSuccess) throw std::runtime_error(cudaGetErrorString(status));
}

static void require(bool good, const char* what) {
    if (!good) throw std::runtime_error(what);
}

static std::vector<int> readInts(const char* path, size_t count) {
    std::vector<int> values(count);
    std::ifstream in(path, std::ios::binary);
    in.read(reinterpret_cast<char*>(values.data()), count * sizeof(int));
    require(in && in.peek() == EOF, path);
    return values;
}

template <typename T>
static T* allocate(size_t count, const T* host = nullptr) {
    T* device = nullptr;
    check(cudaMalloc(&device, count * sizeof(T)));
    if (host) {
        check(cudaMemcpy(device, host, count * sizeof(T), cudaMemcpyHostToDevice));
    } else {
        check(cudaMemset(device, 0, count * sizeof(T)));
    }
    return device;
}

static void run() {
    const auto sizes = readInts("data/sizes.bin", 3);
    const int vertices = sizes[0], edges = sizes[1], sources = sizes[2];
    require(vertices >= 2 && vertices <= 200000 && edges >= 1 && edges <= 1000000, "data/sizes.bin: graph");
    require(sources >= 1 && sources <= 32, "data/sizes.bin: sources");
    const auto rowPtr = readInts("data/row_ptr.bin", vertices + 1);
    const auto neighbors = readInts("data/neighbors.bin", 2 * static_cast<size_t>(edges));
    const auto source = readInts("data/source.bin", sources);
    require(rowPtr[0] == 0 && rowPtr[vertices] == 2 * edges, "data/row_ptr.bin: wrong ends");
    for (int v = 0; v < vertices; ++v) require(rowPtr[v] <= rowPtr[v + 1], "data/row_ptr.bin: decreases");
    for (int w : neighbors) require(w >= 0 && w < vertices, "data/neighbors.bin: no such vertex");
    for (int s : source) require(s >= 0 && s < vertices, "data/source.bin: no such vertex");

    int *dRowPtr = allocate(rowPtr.size(), rowPtr.data()), *dNeighbors = allocate(neighbors.size(), neighbors.data());
    int *level = allocate<int>(vertices), *grown = allocate<int>(1);
    double *sigma = allocate<double>(vertices), *delta = allocate<double>(vertices);
    double* centrality = allocate<double>(vertices);
    const int blocks = (vertices + kThreads - 1) / kThreads;
    for (int s : source) {
        startSearch<<<blocks, kThreads>>>(level, sigma, delta, vertices, s);
        check(cudaGetLastError());
        int depth = 0;
        for (int more = 1; more; ++depth) {
            check(cudaMemset(grown, 0, sizeof(int)));
            forward<<<blocks, kThreads>>>(dRowPtr, dNeighbors, level, sigma, vertices, depth, grown);
            check(cudaGetLastError());
            check(cudaMemcpy(&more, grown, sizeof(int), cudaMemcpyDeviceToHost));
        }
        for (depth -= 2; depth >= 0; --depth) {  // the last level has nothing behind it
            backward<<<blocks, kThreads>>>(dRowPtr, dNeighbors, level, sigma, delta, centrality, vertices, depth);
            check(cudaGetLastError());
        }
    }
    std::vector<double> result(vertices);
    check(cudaMemcpy(result.data(), centrality, vertices * sizeof(double), cudaMemcpyDeviceToHost));
    for (int* p : {dRowPtr, dNeighbors, level, grown}) check(cudaFree(p));
    for (double* p : {sigma, delta, centrality}) check(cudaFree(p));

    std::ofstream out("data/centrality.bin", std::ios::binary);
    out.write(reinterpret_cast<const char*>(result.data()), result.size() * sizeof(double));
    out.close();
    require(bool(out), "data/centrality.bin: cannot be written");
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
