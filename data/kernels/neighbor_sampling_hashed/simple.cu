#include <cuda_runtime.h>

#include <cstdint>
#include <fstream>
#include <iostream>
#include <stdexcept>
#include <string>
#include <vector>

// One thread a seed: the best edges so far stand in its row of the output, kept sorted by insertion.
__global__ void sampleNeighbors(const int* rowPtr, const int* neighbors, const int* seed, int* sample, int* taken,
                                int seeds, int fanout) {
    int s = blockIdx.x * blockDim.x + threadIdx.x;
    if (s >= seeds) return;
    uint32_t keys[32];
    int* row = sample + (size_t)s * fanout;
    int count = 0;
    for (int e = rowPtr[seed[s]]; e < rowPtr[seed[s] + 1]; ++e) {
        uint32_t x = (uint32_t)e * 0x9E3779B9u;
        x = (x ^ (x >> 16)) * 0x21F0AAADu;
        x = (x ^ (x >> 15)) * 0x735A2D97u;
        x ^= x >> 15;
        if (count == fanout && x >= keys[count - 1]) continue;
        int place = count < fanout ? count++ : count - 1;
        while (place > 0 && keys[place - 1] > x) {
            keys[place] = keys[place - 1];
            row[place] = row[place - 1];
            --place;
        }
        keys[place] = x;
        row[place] = neighbors[e];
    }
    taken[s] = count;
    for (int k = count; k < fanout; ++k) row[k] = -1;
}

void check(cudaError_t status) {
    if (status != cudaSuccess) throw std::runtime_error(cudaGetErrorString(status));
}

std::vector<int> readInts(const std::string& path, size_t count) {
    std::vector<int> values(count);
    std::ifstream in(path, std::ios::binary);
    if (!in.read((char*)values.data(), count * sizeof(int)) || in.peek() != EOF) throw std::runtime_error(path);
    return values;
}

int* upload(const std::vector<int>& values) {
    int* device;
    check(cudaMalloc(&device, values.size() * sizeof(int)));
    check(cudaMemcpy(device, values.data(), values.size() * sizeof(int), cudaMemcpyHostToDevice));
    return device;
}

void writeInts(const std::string& path, const int* device, size_t count) {
    std::vector<int> values(count);
    check(cudaMemcpy(values.data(), device, count * sizeof(int), cudaMemcpyDeviceToHost));
    std::ofstream out(path, std::ios::binary);
    if (!out.write((char*)values.data(), count * sizeof(int)).flush()) throw std::runtime_error(path);
}

void requireBelow(const std::vector<int>& values, int bound) {
    for (int v : values) {
        if (v < 0 || v >= bound) throw std::runtime_error("no such vertex");
    }
}

int main() {
    try {
        auto sizes = readInts("data/sizes.bin", 4);
        int vertices = sizes[0], edges = sizes[1], seeds = sizes[2], fanout = sizes[3];
        if (vertices < 1 || vertices > 1000000 || edges < 1 || edges > 4000000 || seeds < 1 || seeds > 500000 ||
            fanout < 1 || fanout > 32) {
            throw std::runtime_error("sizes out of range");
        }
        auto rowPtr = readInts("data/row_ptr.bin", vertices + 1);
        auto neighbors = readInts("data/neighbors.bin", edges);
        auto seed = readInts("data/seed.bin", seeds);
        if (rowPtr[0] != 0 || rowPtr[vertices] != edges) throw std::runtime_error("row_ptr");
        for (int v = 0; v < vertices; ++v) {
            if (rowPtr[v] > rowPtr[v + 1]) throw std::runtime_error("row_ptr");
        }
        requireBelow(neighbors, vertices);
        requireBelow(seed, vertices);
        int *sample, *taken;
        check(cudaMalloc(&sample, (size_t)seeds * fanout * sizeof(int)));
        check(cudaMalloc(&taken, seeds * sizeof(int)));
        sampleNeighbors<<<(seeds + 127) / 128, 128>>>(upload(rowPtr), upload(neighbors), upload(seed), sample, taken,
                                                      seeds, fanout);
        check(cudaGetLastError());
        writeInts("data/sample.bin", sample, (size_t)seeds * fanout);
        writeInts("data/taken.bin", taken, seeds);
    } catch (const std::exception& error) {
        std::cerr << error.what() << "\n";
        return 1;
    }
    return 0;
}
