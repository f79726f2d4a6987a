#include <cuda_runtime.h>

#include <cstdint>
#include <fstream>
#include <iostream>
#include <stdexcept>
#include <string>
#include <vector>

// Vertex k becomes a stop: whoever reaches k reaches what k reaches. Row k does not change here.
__global__ void allow(uint32_t* rows, int vertices, int words, int k) {
    int w = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y;
    if (w >= words || i == k) return;
    uint32_t reaches = rows[(size_t)i * words + k / 32] >> (k % 32) & 1;
    if (reaches) rows[(size_t)i * words + w] |= rows[(size_t)k * words + w];
}

__global__ void count(const uint32_t* rows, int* reachable, int vertices, int words) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= vertices) return;
    int bits = 0;
    for (int w = 0; w < words; ++w) bits += __popc(rows[(size_t)i * words + w]);
    reachable[i] = bits;
}

void check(cudaError_t status) {
    if (status != cudaSuccess) throw std::runtime_error(cudaGetErrorString(status));
}

void readFile(const std::string& path, void* data, size_t bytes) {
    std::ifstream in(path, std::ios::binary);
    if (!in.read((char*)data, bytes) || in.peek() != EOF) throw std::runtime_error(path + ": wrong size");
}

void writeFile(const std::string& path, const void* device, size_t bytes) {
    std::vector<char> host(bytes);
    check(cudaMemcpy(host.data(), device, bytes, cudaMemcpyDeviceToHost));
    std::ofstream out(path, std::ios::binary);
    out.write(host.data(), bytes);
    out.close();
    if (!out) throw std::runtime_error(path + ": cannot be written");
}

int main() {
    try {
        int vertices;
        readFile("data/sizes.bin", &vertices, sizeof vertices);
        if (vertices < 1 || vertices > 8192) throw std::runtime_error("data/sizes.bin: out of range");
        int words = (vertices + 31) / 32;
        size_t bytes = (size_t)vertices * words * sizeof(uint32_t);
        std::vector<uint32_t> matrix(bytes / sizeof(uint32_t));
        readFile("data/adjacency.bin", matrix.data(), bytes);
        uint32_t* rows;
        int* reachable;
        check(cudaMalloc(&rows, bytes));
        check(cudaMalloc(&reachable, vertices * sizeof(int)));
        check(cudaMemcpy(rows, matrix.data(), bytes, cudaMemcpyHostToDevice));
        for (int k = 0; k < vertices; ++k) {
            allow<<<dim3((words + 63) / 64, vertices), 64>>>(rows, vertices, words, k);
            check(cudaGetLastError());
        }
        count<<<(vertices + 127) / 128, 128>>>(rows, reachable, vertices, words);
        check(cudaGetLastError());
        writeFile("data/closure.bin", rows, bytes);
        writeFile("data/reachable.bin", reachable, vertices * sizeof(int));
        return 0;
    } catch (const std::exception& error) {
        std::cerr << error.what() << "\n";
        return 1;
    }
}
