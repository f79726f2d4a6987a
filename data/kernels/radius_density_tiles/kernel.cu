#include <cuda_runtime.h>

#include <cstdint>
#include <fstream>
#include <iostream>
#include <vector>

constexpr int kMaxPoints = 65536;
constexpr int kMaxRadius = 16384;
constexpr int kTile = 256;

__global__ void countNeighbors(const int16_t* __restrict__ points, int* __restrict__ density, int n, int radius) {
    __shared__ int4 tile[kTile];
    const int i = blockIdx.x * kTile + threadIdx.x;
    const int own = 3 * min(i, n - 1);
    const int x = points[own], y = points[own + 1], z = points[own + 2];
    const int limit = radius * radius;
    int count = -1;  // the point finds itself once

    for (int begin = 0; begin < n; begin += kTile) {
        const int j = begin + threadIdx.x;
        if (j < n) tile[threadIdx.x] = make_int4(points[3 * j], points[3 * j + 1], points[3 * j + 2], 0);
        __syncthreads();
        const int inside = min(kTile, n - begin);
        for (int k = 0; k < inside; ++k) {
            const int dx = abs(tile[k].x - x), dy = abs(tile[k].y - y), dz = abs(tile[k].z - z);
            // Within the cube the sum is at most 3 * 2^28 and fits an int.
            if (max(dx, max(dy, dz)) <= radius && dx * dx + dy * dy + dz * dz <= limit) ++count;
        }
        __syncthreads();
    }
    if (i < n) density[i] = count;
}

bool fine(cudaError_t status, const char* step) {
    if (status != cudaSuccess) std::cerr << step << ": " << cudaGetErrorString(status) << '\n';
    return status == cudaSuccess;
}

template <typename T>
bool readAll(const char* path, std::vector<T>& values) {
    std::ifstream in(path, std::ios::binary);
    const std::streamsize bytes = values.size() * sizeof(T);
    if (in.read(reinterpret_cast<char*>(values.data()), bytes) && in.peek() == EOF) return true;
    std::cerr << path << ": expected " << bytes << " bytes\n";
    return false;
}

int main() {
    std::vector<int> sizes(2);
    if (!readAll("data/sizes.bin", sizes)) return 1;
    const int n = sizes[0], radius = sizes[1];
    if (n < 1 || n > kMaxPoints || radius < 1 || radius > kMaxRadius) {
        std::cerr << "data/sizes.bin: " << n << " points, radius " << radius << ": out of range\n";
        return 2;
    }
    std::vector<int16_t> points(3 * n);
    std::vector<int> density(n);
    if (!readAll("data/points.bin", points)) return 1;

    int16_t* dPoints = nullptr;
    int* dDensity = nullptr;
    const size_t pointBytes = points.size() * sizeof(int16_t), densityBytes = density.size() * sizeof(int);
    if (!fine(cudaMalloc(&dPoints, pointBytes), "allocate") ||
        !fine(cudaMalloc(&dDensity, densityBytes), "allocate") ||
        !fine(cudaMemcpy(dPoints, points.data(), pointBytes, cudaMemcpyHostToDevice), "upload")) {
        return 3;
    }
    countNeighbors<<<(n + kTile - 1) / kTile, kTile>>>(dPoints, dDensity, n, radius);
    if (!fine(cudaGetLastError(), "launch") ||
        !fine(cudaMemcpy(density.data(), dDensity, densityBytes, cudaMemcpyDeviceToHost), "download")) {
        return 3;
    }
    cudaFree(dPoints);
    cudaFree(dDensity);

    std::ofstream out("data/density.bin", std::ios::binary);
    out.write(reinterpret_cast<const char*>(density.data()), densityBytes);
    out.close();
    return out ? 0 : 1;
}
