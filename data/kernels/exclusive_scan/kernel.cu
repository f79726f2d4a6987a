#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <vector>

#define CUDA_OK(call)                                                              \
    do {                                                                           \
        cudaError_t e = (call);                                                    \
        if (e != cudaSuccess) {                                                    \
            std::fprintf(stderr, "%s failed: %s\n", #call, cudaGetErrorString(e)); \
            std::exit(2);                                                          \
        }                                                                          \
    } while (0)

using Sum = long long;

constexpr int kItems = 4;
constexpr int kTileThreads = 256;
constexpr int kTile = kItems * kTileThreads;
constexpr int kMaxTiles = 1024;

// Exclusive scan over the threads of a block. Every thread of the block must call it.
template <int kThreads>
__device__ Sum blockExclusiveScan(Sum value, Sum* total) {
    constexpr int kWarps = kThreads / 32;
    __shared__ Sum warpSums[kWarps];
    int lane = threadIdx.x & 31;
    int warp = threadIdx.x >> 5;

    Sum inclusive = value;
    for (int d = 1; d < 32; d <<= 1) {
        Sum left = __shfl_up_sync(0xffffffffu, inclusive, d);
        if (lane >= d) inclusive += left;
    }
    if (lane == 31) warpSums[warp] = inclusive;
    __syncthreads();

    if (warp == 0) {
        Sum sum = lane < kWarps ? warpSums[lane] : 0;
        for (int d = 1; d < 32; d <<= 1) {
            Sum left = __shfl_up_sync(0xffffffffu, sum, d);
            if (lane >= d) sum += left;
        }
        if (lane < kWarps) warpSums[lane] = sum;
    }
    __syncthreads();

    *total = warpSums[kWarps - 1];
    Sum before = warp > 0 ? warpSums[warp - 1] : 0;
    return before + inclusive - value;
}

__global__ void scanTiles(const int32_t* __restrict__ counts, Sum* __restrict__ offsets, Sum* tileSums, int n) {
    int first = blockIdx.x * kTile + threadIdx.x * kItems;
    Sum items[kItems];
    Sum mine = 0;
    for (int k = 0; k < kItems; ++k) {
        items[k] = first + k < n ? counts[first + k] : 0;
        mine += items[k];
    }
    Sum total;
    Sum prefix = blockExclusiveScan<kTileThreads>(mine, &total);
    for (int k = 0; k < kItems; ++k) {
        if (first + k < n) offsets[first + k] = prefix;
        prefix += items[k];
    }
    if (threadIdx.x == 0) tileSums[blockIdx.x] = total;
}

__global__ void scanSums(Sum* tileSums, int tiles) {
    int t = threadIdx.x;
    Sum value = t < tiles ? tileSums[t] : 0;
    Sum total;
    Sum prefix = blockExclusiveScan<kMaxTiles>(value, &total);
    if (t < tiles) tileSums[t] = prefix;
}

__global__ void addOffsets(Sum* offsets, const Sum* __restrict__ tileSums, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) offsets[i] += tileSums[i / kTile];
}

static std::vector<int32_t> readInts(const char* path, size_t count) {
    std::vector<int32_t> values(count);
    std::ifstream in(path, std::ios::binary);
    in.read(reinterpret_cast<char*>(values.data()), count * sizeof(int32_t));
    if (!in || in.peek() != std::ifstream::traits_type::eof()) {
        std::fprintf(stderr, "%s: expected %zu values of 4 bytes\n", path, count);
        std::exit(1);
    }
    return values;
}

int main() {
    const int n = readInts("data/sizes.bin", 1)[0];
    if (n < 1 || n > kMaxTiles * kTile) {
        std::fprintf(stderr, "data/sizes.bin: %d items, allowed are 1 to %d\n", n, kMaxTiles * kTile);
        return 1;
    }
    const std::vector<int32_t> counts = readInts("data/counts.bin", n);
    const int tiles = (n + kTile - 1) / kTile;
    int32_t* dCounts;
    Sum *dOffsets, *dSums;
    CUDA_OK(cudaMalloc(&dCounts, n * sizeof(int32_t)));
    CUDA_OK(cudaMalloc(&dOffsets, n * sizeof(Sum)));
    CUDA_OK(cudaMalloc(&dSums, tiles * sizeof(Sum)));
    CUDA_OK(cudaMemcpy(dCounts, counts.data(), n * sizeof(int32_t), cudaMemcpyHostToDevice));

    scanTiles<<<tiles, kTileThreads>>>(dCounts, dOffsets, dSums, n);
    CUDA_OK(cudaGetLastError());
    scanSums<<<1, kMaxTiles>>>(dSums, tiles);
    CUDA_OK(cudaGetLastError());
    addOffsets<<<(n + 255) / 256, 256>>>(dOffsets, dSums, n);
    CUDA_OK(cudaGetLastError());

    std::vector<Sum> offsets(n);
    CUDA_OK(cudaMemcpy(offsets.data(), dOffsets, n * sizeof(Sum), cudaMemcpyDeviceToHost));
    CUDA_OK(cudaFree(dCounts));
    CUDA_OK(cudaFree(dOffsets));
    CUDA_OK(cudaFree(dSums));

    std::ofstream out("data/offsets.bin", std::ios::binary);
    out.write(reinterpret_cast<const char*>(offsets.data()), n * sizeof(Sum));
    out.close();
    if (!out) {
        std::fprintf(stderr, "cannot write data/offsets.bin\n");
        return 1;
    }
    return 0;
}
