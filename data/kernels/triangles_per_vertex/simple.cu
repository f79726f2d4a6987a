#include <cuda_runtime.h>

#include <fstream>
#include <iostream>
#include <stdexcept>
#include <vector>

// A thread merges the list of its vertex with the list of each neighbour; every triangle is met twice.
__global__ void countTriangles(const int* rowPtr, const int* neighbors, int* triangles, int vertices) {
    int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v >= vertices) return;
    int met = 0;
    for (int e = rowPtr[v]; e < rowPtr[v + 1]; ++e) {
        int a = rowPtr[v], u = neighbors[e], b = rowPtr[u];
        while (a < rowPtr[v + 1] && b < rowPtr[u + 1]) {
            int x = neighbors[a], y = neighbors[b];
            met += x == y;
            a += x <= y;
            b += y <= x;
        }
    }
    triangles[v] = met / 2;
}

void check(cudaError_t status) {
    if (status != cudaSuccess) throw std::runtime_error(cudaGetErrorString(status));
}

std::vector<int> readInts(const char* path, size_t count) {
    std::vector<int> values(count);
    std::ifstream in(path, std::ios::binary);
    in.read((char*)values.data(), count * sizeof(int));
    if (!in || in.peek() != EOF) throw std::runtime_error(path);
    return values;
}

int main() {
    try {
        auto sizes = readInts("data/sizes.bin", 2);
        int vertices = sizes[0], edges = sizes[1];
        if (vertices < 3 || vertices > 1000000 || edges < 1 || edges > 2000000) throw std::runtime_error("sizes");
        auto rowPtr = readInts("data/row_ptr.bin", vertices + 1);
        auto neighbors = readInts("data/neighbors.bin", 2 * (size_t)edges);
        if (rowPtr[0] != 0 || rowPtr[vertices] != 2 * edges) throw std::runtime_error("row_ptr");
        for (int v = 0; v < vertices; ++v) {
            if (rowPtr[v] > rowPtr[v + 1]) throw std::runtime_error("row_ptr");
        }
        for (int v = 0; v < vertices; ++v) {
            for (int e = rowPtr[v]; e < rowPtr[v + 1]; ++e) {
                bool sorted = e == rowPtr[v] || neighbors[e - 1] < neighbors[e];
                if (!sorted || neighbors[e] < 0 || neighbors[e] >= vertices) throw std::runtime_error("neighbors");
            }
        }
        int *dRowPtr, *dNeighbors, *dTriangles;
        check(cudaMalloc(&dRowPtr, rowPtr.size() * sizeof(int)));
        check(cudaMalloc(&dNeighbors, neighbors.size() * sizeof(int)));
        check(cudaMalloc(&dTriangles, vertices * sizeof(int)));
        check(cudaMemcpy(dRowPtr, rowPtr.data(), rowPtr.size() * sizeof(int), cudaMemcpyHostToDevice));
        check(cudaMemcpy(dNeighbors, neighbors.data(), neighbors.size() * sizeof(int), cudaMemcpyHostToDevice));
        countTriangles<<<(vertices + 127) / 128, 128>>>(dRowPtr, dNeighbors, dTriangles, vertices);
        check(cudaGetLastError());
        std::vector<int> triangles(vertices);
        check(cudaMemcpy(triangles.data(), dTriangles, vertices * sizeof(int), cudaMemcpyDeviceToHost));
        std::ofstream out("data/triangles.bin", std::ios::binary);
        out.write((const char*)triangles.data(), vertices * sizeof(int));
        if (!out.flush()) throw std::runtime_error("data/triangles.bin");
        return 0;
    } catch (const std::exception& error) {
        std::cerr << error.what() << std::endl;
        return 1;
    }
}
