#include <cuda_runtime.h>

#include <fstream>
#include <iostream>
#include <stdexcept>
#include <string>
#include <vector>

// One thread makes the list of one tile.
__global__ void makeLists(const int* light, int lights, int height, int width, int* counts, short* lists) {
    int col = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
    int cols = (width + 15) / 16, rows = (height + 15) / 16;
    if (col >= cols || row >= rows) return;
    int tile = row * cols + col, count = 0;
    short* list = lists + 32 * (size_t)tile;
    for (int k = 0; k < lights; ++k) {
        int x = light[3 * k], y = light[3 * k + 1];
        long long radius = light[3 * k + 2];
        long long dx = x - max(16 * col, min(x, min(16 * col + 15, width - 1)));
        long long dy = y - max(16 * row, min(y, min(16 * row + 15, height - 1)));
        if (dx * dx + dy * dy > radius * radius) continue;
        if (count < 32) list[count] = (short)k;
        ++count;
    }
    for (int i = count; i < 32; ++i) list[i] = -1;
    counts[tile] = count;
}

void check(cudaError_t status) {
    if (status != cudaSuccess) throw std::runtime_error(cudaGetErrorString(status));
}

std::vector<int> readInts(const std::string& path, size_t count) {
    std::vector<int> values(count);
    std::ifstream in(path, std::ios::binary);
    in.read(reinterpret_cast<char*>(values.data()), 4 * count);
    if (!in || in.peek() != EOF) throw std::runtime_error("cannot read " + path);
    return values;
}

void writeBytes(const std::string& path, const void* device, size_t bytes) {
    std::vector<char> values(bytes);
    check(cudaMemcpy(values.data(), device, bytes, cudaMemcpyDeviceToHost));
    std::ofstream out(path, std::ios::binary);
    out.write(values.data(), bytes);
    out.close();
    if (!out) throw std::runtime_error("cannot write " + path);
}

void run() {
    auto sizes = readInts("data/sizes.bin", 3);
    int height = sizes[0], width = sizes[1], lights = sizes[2];
    for (int size : sizes)
        if (size < 1 || size > 16384) throw std::runtime_error("sizes out of range");
    auto light = readInts("data/light.bin", 3 * (size_t)lights);
    for (int k = 0; k < lights; ++k) {
        bool inside = light[3 * k] >= -32768 && light[3 * k] <= 32767;
        inside = inside && light[3 * k + 1] >= -32768 && light[3 * k + 1] <= 32767;
        if (!inside || light[3 * k + 2] < 0 || light[3 * k + 2] > 65535) throw std::runtime_error("bad light");
    }
    int cols = (width + 15) / 16, rows = (height + 15) / 16;
    size_t tiles = (size_t)rows * cols;
    int *dLight, *counts;
    short* lists;
    check(cudaMalloc(&dLight, light.size() * sizeof(int)));
    check(cudaMalloc(&counts, tiles * sizeof(int)));
    check(cudaMalloc(&lists, 32 * tiles * sizeof(short)));
    check(cudaMemcpy(dLight, light.data(), light.size() * sizeof(int), cudaMemcpyHostToDevice));
    dim3 threads(16, 8), blocks((cols + 15) / 16, (rows + 7) / 8);
    makeLists<<<blocks, threads>>>(dLight, lights, height, width, counts, lists);
    check(cudaGetLastError());
    writeBytes("data/counts.bin", counts, tiles * sizeof(int));
    writeBytes("data/lists.bin", lists, 32 * tiles * sizeof(short));
}

int main() {
    try {
        run();
    } catch (const std::exception& error) {
        std::cerr << error.what() << "\n";
        return 1;
    }
    return 0;
}
