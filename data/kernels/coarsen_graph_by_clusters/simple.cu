#include <cuda_runtime.h>

#include <fstream>
#include <iostream>
#include <stdexcept>
#include <string>
#include <vector>

__global__ void addEdges(const int* edges, const int* weights, const int* cluster, unsigned long long* between,
                         unsigned long long* cut, int count, int clusters) {
    int e = blockIdx.x * blockDim.x + threadIdx.x;
    if (e >= count) return;
    int p = cluster[edges[2 * e]], q = cluster[edges[2 * e + 1]];
    unsigned long long w = weights[e];
    atomicAdd(&between[p * clusters + q], w);
    if (p == q) return;
    atomicAdd(&between[q * clusters + p], w);
    atomicAdd(cut, w);
}

void check(cudaError_t status) {
    if (status != cudaSuccess) throw std::runtime_error(cudaGetErrorString(status));
}

std::vector<int> readInts(const std::string& path, size_t count, int lowest, int highest) {
    std::vector<int> values(count);
    std::ifstream in(path, std::ios::binary);
    if (!in.read((char*)values.data(), count * sizeof(int)) || in.peek() != EOF) throw std::runtime_error(path);
    for (int value : values) {
        if (value < lowest || value > highest) throw std::runtime_error(path + ": out of range");
    }
    return values;
}

int* upload(const std::vector<int>& values) {
    int* device;
    check(cudaMalloc(&device, values.size() * sizeof(int)));
    check(cudaMemcpy(device, values.data(), values.size() * sizeof(int), cudaMemcpyHostToDevice));
    return device;
}

void save(const std::string& path, const unsigned long long* device, size_t count) {
    std::vector<unsigned long long> values(count);
    check(cudaMemcpy(values.data(), device, count * 8, cudaMemcpyDeviceToHost));
    std::ofstream out(path, std::ios::binary);
    if (!out.write((char*)values.data(), count * 8).flush()) throw std::runtime_error(path);
}

int main() {
    try {
        auto sizes = readInts("data/sizes.bin", 3, 1, 4000000);
        int vertices = sizes[0], count = sizes[1], clusters = sizes[2];
        if (vertices > 1000000 || clusters > 128) throw std::runtime_error("sizes out of range");
        int* edges = upload(readInts("data/edges.bin", 2 * (size_t)count, 0, vertices - 1));
        int* weights = upload(readInts("data/weights.bin", count, 0, 1000000));
        int* cluster = upload(readInts("data/cluster.bin", vertices, 0, clusters - 1));
        unsigned long long *between, *cut;
        check(cudaMalloc(&between, clusters * clusters * 8));
        check(cudaMalloc(&cut, 8));
        check(cudaMemset(between, 0, clusters * clusters * 8));
        check(cudaMemset(cut, 0, 8));
        addEdges<<<(count + 255) / 256, 256>>>(edges, weights, cluster, between, cut, count, clusters);
        check(cudaGetLastError());
        save("data/weight_between.bin", between, clusters * clusters);
        save("data/cut.bin", cut, 1);
    } catch (const std::exception& error) {
        std::cerr << error.what() << "\n";
        return 1;
    }
    return 0;
}
