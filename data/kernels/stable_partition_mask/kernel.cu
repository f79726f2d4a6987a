#include <cub/cub.cuh>
#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <vector>

constexpr int kMaxKeys = 67108864;
constexpr int kThreads = 512;
constexpr int kWarps = kThreads / 32;
constexpr int kScanThreads = 1024;

__device__ unsigned lowerLanes() {
    unsigned mask;
    asm("mov.u32 %0, %%lanemask_lt;" : "=r"(mask));
    return mask;
}

__global__ void countFront(const uint32_t* __restrict__ keys, int n, uint32_t mask, int* __restrict__ counts) {
    const int i = blockIdx.x * kThreads + threadIdx.x;
    const int count = __syncthreads_count(i < n && (keys[i] & mask) == 0);
    if (threadIdx.x == 0) counts[blockIdx.x] = count;
}

// Turns counts into exclusive prefix sums, in one block; *total becomes their sum.
__global__ void scanBlocks(int* counts, int blocks, int* total) {
    using Scan = cub::BlockScan<int, kScanThreads>;
    __shared__ typename Scan::TempStorage storage;
    int carry = 0;
    for (int first = 0; first < blocks; first += kScanThreads) {
        const int b = first + threadIdx.x;
        int before, sum;
        Scan(storage).ExclusiveSum(b < blocks ? counts[b] : 0, before, sum);
        if (b < blocks) counts[b] = carry + before;
        carry += sum;
        __syncthreads();  // storage is used again
    }
    if (threadIdx.x == 0) *total = carry;
}

__global__ void scatter(const uint32_t* __restrict__ keys, int n, uint32_t mask, const int* __restrict__ offsets,
                        const int* __restrict__ zeros, uint32_t* __restrict__ partitioned,
                        int32_t* __restrict__ origin) {
    __shared__ int warpCounts[kWarps];
    const int i = blockIdx.x * kThreads + threadIdx.x;
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const uint32_t key = i < n ? keys[i] : 0;
    const bool front = i < n && (key & mask) == 0;

    const unsigned ballot = __ballot_sync(0xffffffffu, front);
    if (lane == 0) warpCounts[warp] = __popc(ballot);
    __syncthreads();
    if (i >= n) return;

    int before = offsets[blockIdx.x] + __popc(ballot & lowerLanes());
    for (int w = 0; w < warp; ++w) before += warpCounts[w];
    const int target = front ? before : *zeros + (i - before);
    partitioned[target] = key;
    origin[target] = i;
}

#define CHECK(call)                                                                          \
    do {                                                                                     \
        cudaError_t status = (call);                                                         \
        if (status != cudaSuccess) {                                                         \
            fprintf(stderr, "CUDA, line %d: %s\n", __LINE__, cudaGetErrorString(status));     \
            exit(1);                                                                         \
        }                                                                                    \
    } while (0)

template <typename T>
static std::vector<T> readFile(const char* path, size_t count) {
    std::vector<T> values(count);
    const std::streamsize bytes = count * sizeof(T);
    std::ifstream in(path, std::ios::binary | std::ios::ate);
    if (!in || in.tellg() != bytes || !in.seekg(0).read(reinterpret_cast<char*>(values.data()), bytes)) {
        fprintf(stderr, "%s: expected %zu values\n", path, count);
        exit(1);
    }
    return values;
}

template <typename T>
static void writeFromDevice(const char* path, const T* device, size_t count) {
    std::vector<T> values(count);
    CHECK(cudaMemcpy(values.data(), device, count * sizeof(T), cudaMemcpyDeviceToHost));
    std::ofstream out(path, std::ios::binary);
    out.write(reinterpret_cast<const char*>(values.data()), count * sizeof(T));
    out.close();
    if (!out) {
        fprintf(stderr, "%s: cannot be written\n", path);
        exit(1);
    }
}

int main() {
    const int n = readFile<int32_t>("data/sizes.bin", 1)[0];
    if (n < 1 || n > kMaxKeys) {
        fprintf(stderr, "data/sizes.bin: %d is not in 1..%d\n", n, kMaxKeys);
        return 1;
    }
    const std::vector<uint32_t> keys = readFile<uint32_t>("data/keys.bin", n);
    const uint32_t mask = readFile<uint32_t>("data/mask.bin", 1)[0];
    const int blocks = (n + kThreads - 1) / kThreads;

    uint32_t *dKeys, *dPartitioned;
    int32_t *dOrigin, *dZeros, *dCounts;
    CHECK(cudaMalloc(&dKeys, n * sizeof(uint32_t)));
    CHECK(cudaMalloc(&dPartitioned, n * sizeof(uint32_t)));
    CHECK(cudaMalloc(&dOrigin, n * sizeof(int32_t)));
    CHECK(cudaMalloc(&dZeros, sizeof(int32_t)));
    CHECK(cudaMalloc(&dCounts, blocks * sizeof(int32_t)));
    CHECK(cudaMemcpy(dKeys, keys.data(), n * sizeof(uint32_t), cudaMemcpyHostToDevice));

    countFront<<<blocks, kThreads>>>(dKeys, n, mask, dCounts);
    CHECK(cudaGetLastError());
    scanBlocks<<<1, kScanThreads>>>(dCounts, blocks, dZeros);
    CHECK(cudaGetLastError());
    scatter<<<blocks, kThreads>>>(dKeys, n, mask, dCounts, dZeros, dPartitioned, dOrigin);
    CHECK(cudaGetLastError());

    writeFromDevice("data/partitioned.bin", dPartitioned, n);
    writeFromDevice("data/origin.bin", dOrigin, n);
    writeFromDevice("data/zeros.bin", dZeros, 1);
    CHECK(cudaFree(dKeys));
    CHECK(cudaFree(dPartitioned));
    for (int32_t* pointer : {dOrigin, dZeros, dCounts}) CHECK(cudaFree(pointer));
    return 0;
}
