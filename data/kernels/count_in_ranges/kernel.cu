#include <cuda_runtime.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define CHECK(call)                                                                             \
    do {                                                                                        \
        cudaError_t status_ = (call);                                                           \
        if (status_ != cudaSuccess) {                                                           \
            std::fprintf(stderr, "line %d: CUDA: %s\n", __LINE__, cudaGetErrorString(status_)); \
            std::exit(1);                                                                       \
        }                                                                                       \
    } while (0)

constexpr int kThreads = 256;
constexpr int kTile = 2048;  // values in shared memory, 8 KiB
constexpr int kMaxTileBlocks = 512;
constexpr int kMaxValues = 1 << 24;
constexpr int kMaxRanges = 4096;

__global__ void countRanges(const int32_t* __restrict__ values, int n, const int32_t* __restrict__ low,
                            const int32_t* __restrict__ high, int* counts, int ranges) {
    __shared__ int32_t tile[kTile];
    const int range = blockIdx.y * kThreads + threadIdx.x;
    int32_t from = 0, to = 0;  // an empty range for the threads that have none
    if (range < ranges) {
        from = low[range];
        to = high[range];
    }

    int count = 0;
    for (int start = blockIdx.x * kTile; start < n; start += gridDim.x * kTile) {
        const int filled = min(kTile, n - start);
        for (int k = threadIdx.x; k < filled; k += kThreads) tile[k] = values[start + k];
        __syncthreads();
#pragma unroll 8
        for (int k = 0; k < filled; ++k) count += tile[k] >= from && tile[k] < to;
        __syncthreads();
    }
    if (range < ranges) atomicAdd(&counts[range], count);
}

static std::vector<int32_t> readInts(const char* path, size_t count) {
    std::vector<int32_t> values(count);
    std::FILE* file = std::fopen(path, "rb");
    if (!file || std::fread(values.data(), sizeof(int32_t), count, file) != count || std::fgetc(file) != EOF) {
        std::fprintf(stderr, "%s: expected a file of %zu 32-bit integers\n", path, count);
        std::exit(1);
    }
    std::fclose(file);
    return values;
}

static int32_t* upload(const std::vector<int32_t>& host) {
    int32_t* device = nullptr;
    CHECK(cudaMalloc(&device, host.size() * sizeof(int32_t)));
    CHECK(cudaMemcpy(device, host.data(), host.size() * sizeof(int32_t), cudaMemcpyHostToDevice));
    return device;
}

int main() {
    const std::vector<int32_t> sizes = readInts("data/sizes.bin", 2);
    const int n = sizes[0], ranges = sizes[1];
    if (n < 1 || n > kMaxValues || ranges < 1 || ranges > kMaxRanges) {
        std::fprintf(stderr, "data/sizes.bin: %d values and %d ranges are not supported\n", n, ranges);
        return 1;
    }
    int32_t* values = upload(readInts("data/values.bin", n));
    int32_t* low = upload(readInts("data/low.bin", ranges));
    int32_t* high = upload(readInts("data/high.bin", ranges));
    int32_t* counts = nullptr;
    CHECK(cudaMalloc(&counts, ranges * sizeof(int32_t)));
    CHECK(cudaMemset(counts, 0, ranges * sizeof(int32_t)));

    const int tiles = (n + kTile - 1) / kTile;
    const dim3 grid(std::min(tiles, kMaxTileBlocks), (ranges + kThreads - 1) / kThreads);
    countRanges<<<grid, kThreads>>>(values, n, low, high, counts, ranges);
    CHECK(cudaGetLastError());

    std::vector<int32_t> result(ranges);
    CHECK(cudaMemcpy(result.data(), counts, ranges * sizeof(int32_t), cudaMemcpyDeviceToHost));
    for (int32_t* buffer : {values, low, high, counts}) CHECK(cudaFree(buffer));

    std::FILE* out = std::fopen("data/counts.bin", "wb");
    const bool complete = out && std::fwrite(result.data(), sizeof(int32_t), ranges, out) == result.size();
    if (!out || std::fclose(out) != 0 || !complete) {
        std::fprintf(stderr, "data/counts.bin: cannot be written\n");
        return 1;
    }
    return 0;
}
