#include <cuda_runtime.h>

#include <cstdint>
#include <fstream>
#include <iostream>
#include <stdexcept>
#include <string>
#include <vector>

constexpr int kMaxPoints = 1 << 20, kMaxPlanes = 4096;
constexpr int kThreads = 256, kGroup = 8, kMaxSlabs = 128;

struct Plane {
    int a, b, c, d, limit;
};

__global__ void countInliers(const int* __restrict__ points, const Plane* __restrict__ planes, int* inliers, int n,
                             int count) {
    const int first = blockIdx.y * kGroup;
    Plane plane[kGroup];
    int found[kGroup] = {};
#pragma unroll
    for (int g = 0; g < kGroup; ++g) plane[g] = first + g < count ? planes[first + g] : Plane{0, 0, 0, 0, -1};
    for (int i = blockIdx.x * kThreads + threadIdx.x; i < n; i += gridDim.x * kThreads) {
        const int x = points[3 * i], y = points[3 * i + 1], z = points[3 * i + 2];
#pragma unroll
        for (int g = 0; g < kGroup; ++g) {
            const Plane& p = plane[g];
            found[g] += abs(p.a * x + p.b * y + p.c * z + p.d) <= p.limit;
        }
    }
#pragma unroll
    for (int g = 0; g < kGroup; ++g) {
        const int total = __reduce_add_sync(0xFFFFFFFFu, found[g]);
        if (threadIdx.x % 32 == 0 && total > 0) atomicAdd(&inliers[first + g], total);
    }
}

__global__ void pickBest(const int* __restrict__ inliers, unsigned long long* best, int count) {
    const int k = blockIdx.x * kThreads + threadIdx.x;
    if (k >= count) return;
    const unsigned long long support = static_cast<unsigned>(inliers[k]);
    atomicMax(best, support << 32 | (0xFFFFFFFFu - static_cast<unsigned>(k)));
}

void check(cudaError_t status) {
    if (status != cudaSuccess) throw std::runtime_error(std::string("CUDA: ") + cudaGetErrorString(status));
}

template <typename T>
std::vector<T> readFile(const std::string& path, size_t count) {
    std::ifstream in(path, std::ios::binary | std::ios::ate);
    if (!in || static_cast<size_t>(in.tellg()) != count * sizeof(T)) throw std::runtime_error(path + ": wrong length");
    std::vector<T> values(count);
    if (!in.seekg(0).read(reinterpret_cast<char*>(values.data()), count * sizeof(T))) throw std::runtime_error(path);
    return values;
}

void writeFile(const std::string& path, const int* values, size_t count) {
    std::ofstream out(path, std::ios::binary);
    out.write(reinterpret_cast<const char*>(values), count * sizeof(int));
    out.close();
    if (!out) throw std::runtime_error(path + ": cannot be written");
}

int main() {
    try {
        const auto sizes = readFile<int>("data/sizes.bin", 2);
        const int n = sizes[0], count = sizes[1];
        if (n < 1 || n > kMaxPoints || count < 1 || count > kMaxPlanes) {
            throw std::runtime_error("data/sizes.bin: out of range");
        }
        const auto points = readFile<int>("data/points.bin", 3 * static_cast<size_t>(n));
        const auto planes = readFile<Plane>("data/plane.bin", count);
        int *dPoints, *dInliers;
        Plane* dPlanes;
        unsigned long long *dBest, key = 0;
        check(cudaMalloc(&dPoints, points.size() * sizeof(int)));
        check(cudaMalloc(&dPlanes, count * sizeof(Plane)));
        check(cudaMalloc(&dInliers, count * sizeof(int)));
        check(cudaMalloc(&dBest, sizeof key));
        check(cudaMemcpy(dPoints, points.data(), points.size() * sizeof(int), cudaMemcpyHostToDevice));
        check(cudaMemcpy(dPlanes, planes.data(), count * sizeof(Plane), cudaMemcpyHostToDevice));
        check(cudaMemset(dInliers, 0, count * sizeof(int)));
        check(cudaMemset(dBest, 0, sizeof key));
        const int slabs = (n + kThreads - 1) / kThreads;
        const dim3 grid(slabs < kMaxSlabs ? slabs : kMaxSlabs, (count + kGroup - 1) / kGroup);
        countInliers<<<grid, kThreads>>>(dPoints, dPlanes, dInliers, n, count);
        check(cudaGetLastError());
        pickBest<<<(count + kThreads - 1) / kThreads, kThreads>>>(dInliers, dBest, count);
        check(cudaGetLastError());
        std::vector<int> inliers(count);
        check(cudaMemcpy(inliers.data(), dInliers, count * sizeof(int), cudaMemcpyDeviceToHost));
        check(cudaMemcpy(&key, dBest, sizeof key, cudaMemcpyDeviceToHost));
        check(cudaFree(dPoints));
        check(cudaFree(dPlanes));
        check(cudaFree(dInliers));
        check(cudaFree(dBest));
        const int best[2] = {static_cast<int>(0xFFFFFFFFu - static_cast<uint32_t>(key)), static_cast<int>(key >> 32)};
        writeFile("data/inliers.bin", inliers.data(), count);
        writeFile("data/best.bin", best, 2);
    } catch (const std::exception& error) {
        std::cerr << error.what() << std::endl;
        return 1;
    }
    return 0;
}
