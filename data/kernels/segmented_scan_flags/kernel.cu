#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <vector>

#define CUDA_OK(call)                                                                     \
    do {                                                                                  \
        cudaError_t e = (call);                                                           \
        if (e != cudaSuccess) {                                                           \
            std::fprintf(stderr, "line %d: %s\n", __LINE__, cudaGetErrorString(e));       \
            std::exit(EXIT_FAILURE);                                                      \
        }                                                                                 \
    } while (0)

constexpr int kItems = 4;
constexpr int kThreads = 256;
constexpr int kTile = kItems * kThreads;
constexpr int kScanThreads = 1024;
constexpr int kMaxLength = 1 << 24;
constexpr unsigned kFull = 0xffffffffu;

struct Part {
    long long sum;  // since the last head, or since the start if there is none
    int head;       // 1 if a segment begins inside
};

__device__ __forceinline__ Part combine(Part left, Part right) {
    return {right.head ? right.sum : left.sum + right.sum, left.head | right.head};
}

__device__ Part inclusiveWarpScan(Part part) {
    const int lane = threadIdx.x % 32;
    for (int d = 1; d < 32; d *= 2) {
        const Part left = {__shfl_up_sync(kFull, part.sum, d), __shfl_up_sync(kFull, part.head, d)};
        if (lane >= d) part = combine(left, part);
    }
    return part;
}

// What all earlier threads of the block hold, combined; *total is the same for the whole block.
template <int kBlock>
__device__ Part exclusiveBlockScan(Part own, Part* total) {
    __shared__ Part warpParts[kBlock / 32];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const Part inclusive = inclusiveWarpScan(own);
    if (lane == 31) warpParts[warp] = inclusive;
    __syncthreads();

    Part before = {0, 0}, all = {0, 0};
    for (int w = 0; w < kBlock / 32; ++w) {
        if (w == warp) before = all;
        all = combine(all, warpParts[w]);
    }
    *total = all;
    const Part left = {__shfl_up_sync(kFull, inclusive.sum, 1), __shfl_up_sync(kFull, inclusive.head, 1)};
    __syncthreads();  // the caller may scan again
    return lane > 0 ? combine(before, left) : before;
}

__device__ Part loadItem(const int32_t* values, const uint8_t* heads, int i, int n) {
    return i < n ? Part{values[i], heads[i] != 0} : Part{0, 0};
}

__device__ Part loadItems(const int32_t* values, const uint8_t* heads, int first, int n, Part (&items)[kItems]) {
    Part sum = {0, 0};
    for (int k = 0; k < kItems; ++k) {
        items[k] = loadItem(values, heads, first + k, n);
        sum = combine(sum, items[k]);
    }
    return sum;
}

__global__ void reduceTiles(const int32_t* __restrict__ values, const uint8_t* __restrict__ heads, Part* tiles,
                            int n) {
    Part items[kItems], total;
    exclusiveBlockScan<kThreads>(
        loadItems(values, heads, blockIdx.x * kTile + threadIdx.x * kItems, n, items), &total);
    if (threadIdx.x == 0) tiles[blockIdx.x] = total;
}

__global__ void scanTiles(Part* tiles, int count) {
    Part carry = {0, 0};
    for (int base = 0; base < count; base += kScanThreads) {
        const int t = base + threadIdx.x;
        Part total;
        const Part before = exclusiveBlockScan<kScanThreads>(t < count ? tiles[t] : Part{0, 0}, &total);
        if (t < count) tiles[t] = combine(carry, before);
        carry = combine(carry, total);
    }
}

__global__ void writeSums(const int32_t* __restrict__ values, const uint8_t* __restrict__ heads,
                          const Part* __restrict__ tiles, int64_t* __restrict__ sums, int n) {
    const int first = blockIdx.x * kTile + threadIdx.x * kItems;
    Part items[kItems], total;
    const Part before = exclusiveBlockScan<kThreads>(loadItems(values, heads, first, n, items), &total);
    Part running = combine(tiles[blockIdx.x], before);
    for (int k = 0; k < kItems && first + k < n; ++k) {
        running = combine(running, items[k]);
        sums[first + k] = running.sum;
    }
}

template <typename T>
static std::vector<T> readFile(const char* path, size_t count) {
    std::vector<T> values(count);
    std::ifstream in(path, std::ios::binary);
    in.read(reinterpret_cast<char*>(values.data()), count * sizeof(T));
    if (!in || in.peek() != std::ifstream::traits_type::eof()) {
        std::fprintf(stderr, "%s: does not hold exactly %zu values\n", path, count);
        std::exit(EXIT_FAILURE);
    }
    return values;
}

int main() {
    const int n = readFile<int32_t>("data/sizes.bin", 1)[0];
    if (n < 1 || n > kMaxLength) {
        std::fprintf(stderr, "data/sizes.bin: %d is not in 1..%d\n", n, kMaxLength);
        return EXIT_FAILURE;
    }
    const auto values = readFile<int32_t>("data/values.bin", n);
    const auto heads = readFile<uint8_t>("data/heads.bin", n);
    const int tiles = (n + kTile - 1) / kTile;

    int32_t* dValues = nullptr;
    uint8_t* dHeads = nullptr;
    Part* dTiles = nullptr;
    int64_t* dSums = nullptr;
    CUDA_OK(cudaMalloc(&dValues, n * sizeof(int32_t)));
    CUDA_OK(cudaMalloc(&dHeads, n));
    CUDA_OK(cudaMalloc(&dTiles, tiles * sizeof(Part)));
    CUDA_OK(cudaMalloc(&dSums, n * sizeof(int64_t)));
    CUDA_OK(cudaMemcpy(dValues, values.data(), n * sizeof(int32_t), cudaMemcpyHostToDevice));
    CUDA_OK(cudaMemcpy(dHeads, heads.data(), n, cudaMemcpyHostToDevice));

    reduceTiles<<<tiles, kThreads>>>(dValues, dHeads, dTiles, n);
    CUDA_OK(cudaGetLastError());
    scanTiles<<<1, kScanThreads>>>(dTiles, tiles);
    CUDA_OK(cudaGetLastError());
    writeSums<<<tiles, kThreads>>>(dValues, dHeads, dTiles, dSums, n);
    CUDA_OK(cudaGetLastError());

    std::vector<int64_t> sums(n);
    CUDA_OK(cudaMemcpy(sums.data(), dSums, n * sizeof(int64_t), cudaMemcpyDeviceToHost));
    CUDA_OK(cudaFree(dValues));
    CUDA_OK(cudaFree(dHeads));
    CUDA_OK(cudaFree(dTiles));
    CUDA_OK(cudaFree(dSums));

    std::ofstream out("data/sums.bin", std::ios::binary);
    out.write(reinterpret_cast<const char*>(sums.data()), n * sizeof(int64_t));
    out.close();
    if (!out) std::fprintf(stderr, "data/sums.bin: cannot be written\n");
    return out ? EXIT_SUCCESS : EXIT_FAILURE;
}
