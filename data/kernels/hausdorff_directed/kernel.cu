#include <cuda_runtime.h>

#include <climits>
#include <cstdint>
#include <fstream>
#include <iostream>
#include <string>
#include <vector>

constexpr int kMaxPoints = 65536;
constexpr int kThreads = 256, kWarps = kThreads / 32;
constexpr int kPerWarp = 4, kTile = 512;

__global__ void farthestPoint(const int16_t* __restrict__ source, const int16_t* __restrict__ target, int sources,
                              int targets, unsigned long long* best) {
    __shared__ int tileX[kTile], tileY[kTile], tileZ[kTile];
    const int lane = threadIdx.x % 32;
    const int first = (blockIdx.x * kWarps + threadIdx.x / 32) * kPerWarp;
    int x[kPerWarp], y[kPerWarp], z[kPerWarp], nearest[kPerWarp];
    for (int p = 0; p < kPerWarp; ++p) {
        const int i = 3 * min(first + p, sources - 1);
        x[p] = source[i];
        y[p] = source[i + 1];
        z[p] = source[i + 2];
        nearest[p] = INT_MAX;
    }
    for (int begin = 0; begin < targets; begin += kTile) {
        const int inside = min(kTile, targets - begin);
        __syncthreads();
        for (int t = threadIdx.x; t < inside; t += kThreads) {
            tileX[t] = target[3 * (begin + t)];
            tileY[t] = target[3 * (begin + t) + 1];
            tileZ[t] = target[3 * (begin + t) + 2];
        }
        __syncthreads();
        for (int t = lane; t < inside; t += 32) {
            for (int p = 0; p < kPerWarp; ++p) {
                const int dx = tileX[t] - x[p], dy = tileY[t] - y[p], dz = tileZ[t] - z[p];
                nearest[p] = min(nearest[p], dx * dx + dy * dy + dz * dz);
            }
        }
    }
    for (int p = 0; p < kPerWarp; ++p) {
        const int distance = __reduce_min_sync(0xFFFFFFFFu, nearest[p]);
        if (lane == 0 && first + p < sources) {
            const unsigned long long high = static_cast<unsigned>(distance);
            atomicMax(best, high << 32 | (0xFFFFFFFFu - static_cast<unsigned>(first + p)));
        }
    }
}

static bool ok(cudaError_t status) {
    if (status != cudaSuccess) std::cerr << "CUDA: " << cudaGetErrorString(status) << std::endl;
    return status == cudaSuccess;
}

template <typename T>
static bool load(const std::string& path, std::vector<T>& values) {
    std::ifstream in(path, std::ios::binary | std::ios::ate);
    const std::streamoff bytes = values.size() * sizeof(T);
    const bool good = in && in.tellg() == bytes && in.seekg(0).read(reinterpret_cast<char*>(values.data()), bytes);
    if (!good) std::cerr << path << ": expected " << bytes << " bytes" << std::endl;
    return good;
}

static bool solve(const std::vector<int16_t>& source, const std::vector<int16_t>& target, int32_t* farthest) {
    const int sources = static_cast<int>(source.size() / 3), targets = static_cast<int>(target.size() / 3);
    const size_t sourceBytes = source.size() * sizeof(int16_t), targetBytes = target.size() * sizeof(int16_t);
    int16_t *dSource = nullptr, *dTarget = nullptr;
    unsigned long long *dBest = nullptr, best = 0;
    if (!ok(cudaMalloc(&dSource, sourceBytes)) || !ok(cudaMalloc(&dTarget, targetBytes)) ||
        !ok(cudaMalloc(&dBest, sizeof best)) || !ok(cudaMemset(dBest, 0, sizeof best)) ||
        !ok(cudaMemcpy(dSource, source.data(), sourceBytes, cudaMemcpyHostToDevice)) ||
        !ok(cudaMemcpy(dTarget, target.data(), targetBytes, cudaMemcpyHostToDevice))) {
        return false;
    }
    constexpr int perBlock = kWarps * kPerWarp;
    farthestPoint<<<(sources + perBlock - 1) / perBlock, kThreads>>>(dSource, dTarget, sources, targets, dBest);
    if (!ok(cudaGetLastError()) || !ok(cudaMemcpy(&best, dBest, sizeof best, cudaMemcpyDeviceToHost))) return false;
    farthest[0] = static_cast<int32_t>(0xFFFFFFFFu - static_cast<unsigned>(best & 0xFFFFFFFFu));
    farthest[1] = static_cast<int32_t>(best >> 32);
    return ok(cudaFree(dSource)) && ok(cudaFree(dTarget)) && ok(cudaFree(dBest));
}

int main() {
    std::vector<int32_t> sizes(2);
    if (!load("data/sizes.bin", sizes)) return 1;
    if (sizes[0] < 1 || sizes[0] > kMaxPoints || sizes[1] < 1 || sizes[1] > kMaxPoints) {
        std::cerr << "data/sizes.bin: sources and targets must be 1 to " << kMaxPoints << std::endl;
        return 1;
    }
    std::vector<int16_t> source(3 * sizes[0]), target(3 * sizes[1]);
    int32_t farthest[2];
    if (!load("data/source.bin", source) || !load("data/target.bin", target) || !solve(source, target, farthest)) {
        return 1;
    }
    std::ofstream out("data/farthest.bin", std::ios::binary);
    out.write(reinterpret_cast<const char*>(farthest), sizeof farthest);
    out.close();
    return out ? 0 : 1;
}
