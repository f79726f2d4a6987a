#include <cuda_runtime.h>

#include <cstdint>
#include <fstream>
#include <iostream>
#include <stdexcept>
#include <string>
#include <vector>

constexpr int kThreads = 256;

__global__ void fillOwners(const int* __restrict__ rowPtr, int* __restrict__ owner, int vertices) {
    const int v = blockIdx.x * kThreads + threadIdx.x;
    if (v >= vertices) return;
    for (int e = rowPtr[v]; e < rowPtr[v + 1]; ++e) owner[e] = v;
}

// The first position in begin..end whose value is not below `key`.
__device__ int lowerBound(const int* values, int begin, int end, int key) {
    while (begin < end) {
        const int middle = begin + (end - begin) / 2;
        if (values[middle] < key) {
            begin = middle + 1;
        } else {
            end = middle;
        }
    }
    return begin;
}

__global__ void countTriangles(const int* __restrict__ rowPtr, const int* __restrict__ neighbors,
                               const int* __restrict__ owner, int* triangles, int entries) {
    const int e = (blockIdx.x * kThreads + threadIdx.x) / 32;
    const int lane = threadIdx.x % 32;
    if (e >= entries) return;
    const int u = owner[e], v = neighbors[e];
    if (u > v) return;  // whole warps leave

    int begin = lowerBound(neighbors, rowPtr[u], rowPtr[u + 1], v + 1), end = rowPtr[u + 1];
    int otherBegin = lowerBound(neighbors, rowPtr[v], rowPtr[v + 1], v + 1), otherEnd = rowPtr[v + 1];
    if (otherEnd - otherBegin < end - begin) {
        int swap = begin;
        begin = otherBegin;
        otherBegin = swap;
        swap = end;
        end = otherEnd;
        otherEnd = swap;
    }
    int found = 0;
    for (int base = begin; base < end; base += 32) {
        bool hit = false;
        if (base + lane < end) {
            const int w = neighbors[base + lane];
            const int at = lowerBound(neighbors, otherBegin, otherEnd, w);
            hit = at < otherEnd && neighbors[at] == w;
            if (hit) atomicAdd(&triangles[w], 1);
        }
        found += __popc(__ballot_sync(0xffffffffu, hit));
    }
    if (lane == 0 && found > 0) {
        atomicAdd(&triangles[u], found);
        atomicAdd(&triangles[v], found);
    }
}

static void require(bool condition, const char* message) {
    if (!condition) throw std::runtime_error(message);
}

static void check(cudaError_t status) { require(status == cudaSuccess, cudaGetErrorString(status)); }

static std::vector<int> readInts(const char* path, size_t count) {
    std::vector<int> values(count);
    std::ifstream in(path, std::ios::binary);
    in.read(reinterpret_cast<char*>(values.data()), count * sizeof(int));
    require(in && in.peek() == EOF, path);
    return values;
}

static int* deviceInts(size_t count) {
    int* pointer = nullptr;
    check(cudaMalloc(&pointer, count * sizeof(int)));
    return pointer;
}

int main() {
    try {
        const std::vector<int> sizes = readInts("data/sizes.bin", 2);
        const int vertices = sizes[0], edges = sizes[1];
        require(vertices >= 3 && vertices <= 1000000 && edges >= 1 && edges <= 2000000, "sizes: out of range");
        const int entries = 2 * edges;
        const std::vector<int> rowPtr = readInts("data/row_ptr.bin", vertices + 1);
        const std::vector<int> neighbors = readInts("data/neighbors.bin", entries);
        require(rowPtr[0] == 0 && rowPtr[vertices] == entries, "row_ptr: first or last value");
        for (int v = 0; v < vertices; ++v) require(rowPtr[v] <= rowPtr[v + 1], "row_ptr: decreases");
        for (int v = 0; v < vertices; ++v) {
            for (int e = rowPtr[v]; e < rowPtr[v + 1]; ++e) {
                require(neighbors[e] >= 0 && neighbors[e] < vertices && neighbors[e] != v, "neighbors: bad vertex");
                require(e == rowPtr[v] || neighbors[e - 1] < neighbors[e], "neighbors: a list is not sorted");
            }
        }

        int *dRowPtr = deviceInts(vertices + 1), *dNeighbors = deviceInts(entries);
        int *dOwner = deviceInts(entries), *dTriangles = deviceInts(vertices);
        check(cudaMemcpy(dRowPtr, rowPtr.data(), rowPtr.size() * sizeof(int), cudaMemcpyHostToDevice));
        check(cudaMemcpy(dNeighbors, neighbors.data(), entries * sizeof(int), cudaMemcpyHostToDevice));
        check(cudaMemset(dTriangles, 0, vertices * sizeof(int)));
        fillOwners<<<(vertices + kThreads - 1) / kThreads, kThreads>>>(dRowPtr, dOwner, vertices);
        check(cudaGetLastError());
        const int warps = kThreads / 32;
        countTriangles<<<(entries + warps - 1) / warps, kThreads>>>(dRowPtr, dNeighbors, dOwner, dTriangles, entries);
        check(cudaGetLastError());
        std::vector<int> triangles(vertices);
        check(cudaMemcpy(triangles.data(), dTriangles, vertices * sizeof(int), cudaMemcpyDeviceToHost));
        for (int* p : {dRowPtr, dNeighbors, dOwner, dTriangles}) check(cudaFree(p));

        std::ofstream out("data/triangles.bin", std::ios::binary);
        out.write(reinterpret_cast<const char*>(triangles.data()), vertices * sizeof(int));
        out.close();
        require(bool(out), "data/triangles.bin: cannot be written");
    } catch (const std::exception& error) {
        std::cerr << error.what() << std::endl;
        return 1;
    }
    return 0;
}
