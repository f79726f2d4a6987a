#include <cuda_runtime.h>

#include <climits>
#include <cstdint>
#include <fstream>
#include <iostream>
#include <stdexcept>
#include <string>
#include <vector>

__global__ void lowerCorner(const int* points, int n, int* lower) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        atomicMin(&lower[0], points[3 * i]);
        atomicMin(&lower[1], points[3 * i + 1]);
        atomicMin(&lower[2], points[3 * i + 2]);
    }
}

__global__ void mortonCode(const int* points, int n, int shift, const int* lower, uint32_t* codes) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    uint32_t code = 0;
    for (int axis = 0; axis < 3; ++axis) {
        uint32_t cell = (uint32_t(points[3 * i + axis]) - uint32_t(lower[axis])) >> shift;
        if (cell > 1023) cell = 1023;
        for (int bit = 0; bit < 10; ++bit) code |= ((cell >> bit) & 1u) << (3 * bit + axis);
    }
    codes[i] = code;
}

void check(cudaError_t status) {
    if (status != cudaSuccess) throw std::runtime_error(cudaGetErrorString(status));
}

std::vector<int> readInts(const std::string& path, size_t count) {
    std::ifstream in(path, std::ios::binary | std::ios::ate);
    if (!in || size_t(in.tellg()) != count * sizeof(int)) throw std::runtime_error(path + ": wrong length");
    std::vector<int> values(count);
    in.seekg(0);
    in.read(reinterpret_cast<char*>(values.data()), count * sizeof(int));
    if (!in) throw std::runtime_error(path + ": cannot be read");
    return values;
}

int main() {
    try {
        std::vector<int> sizes = readInts("data/sizes.bin", 2);
        int n = sizes[0], shift = sizes[1];
        if (n < 1 || n > 16777216 || shift < 1 || shift > 21) throw std::runtime_error("data/sizes.bin: out of range");
        std::vector<int> points = readInts("data/points.bin", size_t(n) * 3);
        std::vector<int> lower(3, INT_MAX);
        std::vector<uint32_t> codes(n);

        int *devicePoints, *deviceLower;
        uint32_t* deviceCodes;
        check(cudaMalloc(&devicePoints, points.size() * sizeof(int)));
        check(cudaMalloc(&deviceLower, 3 * sizeof(int)));
        check(cudaMalloc(&deviceCodes, codes.size() * sizeof(uint32_t)));
        check(cudaMemcpy(devicePoints, points.data(), points.size() * sizeof(int), cudaMemcpyHostToDevice));
        check(cudaMemcpy(deviceLower, lower.data(), 3 * sizeof(int), cudaMemcpyHostToDevice));
        lowerCorner<<<(n + 127) / 128, 128>>>(devicePoints, n, deviceLower);
        check(cudaGetLastError());
        mortonCode<<<(n + 127) / 128, 128>>>(devicePoints, n, shift, deviceLower, deviceCodes);
        check(cudaGetLastError());
        check(cudaMemcpy(codes.data(), deviceCodes, codes.size() * sizeof(uint32_t), cudaMemcpyDeviceToHost));

        std::ofstream out("data/codes.bin", std::ios::binary);
        out.write(reinterpret_cast<const char*>(codes.data()), codes.size() * sizeof(uint32_t));
        out.close();
        if (!out) throw std::runtime_error("data/codes.bin: cannot be written");
    } catch (const std::exception& error) {
        std::cerr << error.what() << "\n";
        return 1;
    }
}
