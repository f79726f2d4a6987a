#include <cuda_runtime.h>

#include <climits>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

using u64 = unsigned long long;

constexpr int kMaxPoints = 1 << 22, kMaxCenters = 256;
constexpr int kThreads = 256, kMaxBlocks = 1024;

__global__ void assign(const int16_t* __restrict__ points, const int16_t* __restrict__ centers,
                       int* __restrict__ labels, u64* sums, int* counts, int n, int k) {
    extern __shared__ u64 shared[];
    u64* blockSums = shared;
    int* blockCounts = reinterpret_cast<int*>(blockSums + 3 * k);
    int* center = blockCounts + k;
    for (int e = threadIdx.x; e < 3 * k; e += kThreads) {
        blockSums[e] = 0;
        center[e] = centers[e];
    }
    for (int c = threadIdx.x; c < k; c += kThreads) blockCounts[c] = 0;
    __syncthreads();

    for (int i = blockIdx.x * kThreads + threadIdx.x; i < n; i += gridDim.x * kThreads) {
        const int x = points[3 * i], y = points[3 * i + 1], z = points[3 * i + 2];
        int best = INT_MAX, label = 0;
        for (int c = 0; c < k; ++c) {
            const int dx = x - center[3 * c], dy = y - center[3 * c + 1], dz = z - center[3 * c + 2];
            const int square = dx * dx + dy * dy + dz * dz;
            if (square < best) {
                best = square;
                label = c;
            }
        }
        labels[i] = label;
        atomicAdd(&blockSums[3 * label], static_cast<u64>(static_cast<long long>(x)));
        atomicAdd(&blockSums[3 * label + 1], static_cast<u64>(static_cast<long long>(y)));
        atomicAdd(&blockSums[3 * label + 2], static_cast<u64>(static_cast<long long>(z)));
        atomicAdd(&blockCounts[label], 1);
    }
    __syncthreads();

    for (int e = threadIdx.x; e < 3 * k; e += kThreads) {
        if (blockSums[e] != 0) atomicAdd(&sums[e], blockSums[e]);
    }
    for (int c = threadIdx.x; c < k; c += kThreads) {
        if (blockCounts[c] != 0) atomicAdd(&counts[c], blockCounts[c]);
    }
}

[[noreturn]] static void fail(const std::string& message) {
    fprintf(stderr, "%s\n", message.c_str());
    exit(1);
}

static void check(cudaError_t status) {
    if (status != cudaSuccess) fail(std::string("CUDA: ") + cudaGetErrorString(status));
}

template <typename T>
static std::vector<T> fromFile(const std::string& path, size_t count) {
    std::vector<T> values(count);
    std::ifstream in(path, std::ios::binary | std::ios::ate);
    if (!in || static_cast<size_t>(in.tellg()) != count * sizeof(T)) fail(path + ": missing or of another length");
    in.seekg(0).read(reinterpret_cast<char*>(values.data()), count * sizeof(T));
    if (!in) fail(path + ": read error");
    return values;
}

template <typename T>
static void toFile(const std::string& path, const T* device, size_t count) {
    std::vector<T> values(count);
    check(cudaMemcpy(values.data(), device, count * sizeof(T), cudaMemcpyDeviceToHost));
    std::ofstream out(path, std::ios::binary);
    out.write(reinterpret_cast<const char*>(values.data()), count * sizeof(T));
    out.close();
    if (!out) fail(path + ": write error");
}

int main() {
    const auto sizes = fromFile<int>("data/sizes.bin", 2);
    const int n = sizes[0], k = sizes[1];
    if (n < 1 || n > kMaxPoints || k < 1 || k > kMaxCenters) fail("data/sizes.bin: n or k out of range");
    const auto points = fromFile<int16_t>("data/points.bin", 3 * static_cast<size_t>(n));
    const auto centers = fromFile<int16_t>("data/centers.bin", 3 * static_cast<size_t>(k));

    int16_t *dPoints, *dCenters;
    int *dLabels, *dCounts;
    u64* dSums;
    check(cudaMalloc(&dPoints, points.size() * sizeof(int16_t)));
    check(cudaMalloc(&dCenters, centers.size() * sizeof(int16_t)));
    check(cudaMalloc(&dLabels, n * sizeof(int)));
    check(cudaMalloc(&dSums, 3 * k * sizeof(u64)));
    check(cudaMalloc(&dCounts, k * sizeof(int)));
    check(cudaMemcpy(dPoints, points.data(), points.size() * sizeof(int16_t), cudaMemcpyHostToDevice));
    check(cudaMemcpy(dCenters, centers.data(), centers.size() * sizeof(int16_t), cudaMemcpyHostToDevice));
    check(cudaMemset(dSums, 0, 3 * k * sizeof(u64)));
    check(cudaMemset(dCounts, 0, k * sizeof(int)));

    const int blocks = (n + kThreads - 1) / kThreads;
    const size_t sharedBytes = 3 * k * sizeof(u64) + 4 * k * sizeof(int);
    assign<<<blocks < kMaxBlocks ? blocks : kMaxBlocks, kThreads, sharedBytes>>>(dPoints, dCenters, dLabels, dSums,
                                                                                 dCounts, n, k);
    check(cudaGetLastError());
    toFile("data/labels.bin", dLabels, n);
    toFile("data/sums.bin", dSums, 3 * k);
    toFile("data/counts.bin", dCounts, k);
    check(cudaFree(dPoints));
    check(cudaFree(dCenters));
    check(cudaFree(dLabels));
    check(cudaFree(dSums));
    check(cudaFree(dCounts));
    return 0;
}
