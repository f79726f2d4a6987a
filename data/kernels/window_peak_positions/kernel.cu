#include <cuda_runtime.h>

#include <climits>
#include <cstdint>
#include <fstream>
#include <iostream>
#include <stdexcept>
#include <string>
#include <vector>

constexpr int kMaxSamples = 1 << 22, kMaxReach = 64, kThreads = 256, kWarps = kThreads / 32;

__global__ void markPeaks(const int* __restrict__ x, uint8_t* __restrict__ marks, int* __restrict__ blockCounts, int n,
                          int reach, int floorValue) {
    __shared__ int window[kThreads + 2 * kMaxReach];
    const int first = static_cast<int>(blockIdx.x) * kThreads - reach;
    for (int k = threadIdx.x; k < kThreads + 2 * reach; k += kThreads) {
        const int at = first + k;
        window[k] = at >= 0 && at < n ? x[at] : INT_MIN;
    }
    __syncthreads();
    const int i = blockIdx.x * kThreads + threadIdx.x;
    const int* own = window + threadIdx.x + reach;
    bool peak = i < n && own[0] > floorValue;
    for (int k = 1; k <= reach && peak; ++k) peak = own[0] > own[-k] && own[0] >= own[k];
    if (i < n) marks[i] = peak;
    const int count = __syncthreads_count(peak);
    if (threadIdx.x == 0) blockCounts[blockIdx.x] = count;
}

__global__ void storePositions(const uint8_t* __restrict__ marks, const int* __restrict__ offsets,
                               int* __restrict__ positions, int n) {
    __shared__ int warpCounts[kWarps];
    const int i = blockIdx.x * kThreads + threadIdx.x, lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const bool peak = i < n && marks[i];
    const unsigned votes = __ballot_sync(0xFFFFFFFFu, peak);
    if (lane == 0) warpCounts[warp] = __popc(votes);
    __syncthreads();
    if (!peak) return;
    int rank = offsets[blockIdx.x] + __popc(votes & ((1u << lane) - 1));
    for (int w = 0; w < warp; ++w) rank += warpCounts[w];
    positions[rank] = i;
}

void check(cudaError_t status, const char* step) {
    if (status != cudaSuccess) throw std::runtime_error(std::string(step) + ": " + cudaGetErrorString(status));
}

std::vector<int> readInts(const std::string& path, size_t count) {
    std::ifstream in(path, std::ios::binary | std::ios::ate);
    const size_t bytes = count * sizeof(int);
    if (!in || static_cast<size_t>(in.tellg()) != bytes) throw std::runtime_error(path + ": wrong length");
    std::vector<int> values(count);
    in.seekg(0).read(reinterpret_cast<char*>(values.data()), bytes);
    if (!in) throw std::runtime_error(path + ": cannot be read");
    return values;
}

void writeInts(const std::string& path, const int* values, size_t count) {
    std::ofstream out(path, std::ios::binary);
    out.write(reinterpret_cast<const char*>(values), count * sizeof(int));
    out.close();
    if (!out) throw std::runtime_error(path + ": cannot be written");
}

int main() {
    try {
        const auto sizes = readInts("data/sizes.bin", 2);
        const int n = sizes[0], reach = sizes[1];
        if (n < 1 || n > kMaxSamples || reach < 1 || reach > kMaxReach) {
            throw std::runtime_error("data/sizes.bin: out of range");
        }
        auto x = readInts("data/x.bin", n);
        const int floorValue = readInts("data/floor.bin", 1)[0];
        const int blocks = (n + kThreads - 1) / kThreads;
        int *dX, *dCounts, *dPositions;
        uint8_t* dMarks;
        check(cudaMalloc(&dX, n * sizeof(int)), "allocate");
        check(cudaMalloc(&dMarks, n), "allocate");
        check(cudaMalloc(&dCounts, blocks * sizeof(int)), "allocate");
        check(cudaMalloc(&dPositions, n * sizeof(int)), "allocate");
        check(cudaMemcpy(dX, x.data(), n * sizeof(int), cudaMemcpyHostToDevice), "upload");
        check(cudaMemset(dPositions, 0xFF, n * sizeof(int)), "fill");
        markPeaks<<<blocks, kThreads>>>(dX, dMarks, dCounts, n, reach, floorValue);
        check(cudaGetLastError(), "markPeaks");

        std::vector<int> offsets(blocks);
        check(cudaMemcpy(offsets.data(), dCounts, blocks * sizeof(int), cudaMemcpyDeviceToHost), "counts");
        int total = 0;
        for (int& offset : offsets) {
            const int count = offset;
            offset = total;
            total += count;
        }
        check(cudaMemcpy(dCounts, offsets.data(), blocks * sizeof(int), cudaMemcpyHostToDevice), "offsets");
        storePositions<<<blocks, kThreads>>>(dMarks, dCounts, dPositions, n);
        check(cudaGetLastError(), "storePositions");
        check(cudaMemcpy(x.data(), dPositions, n * sizeof(int), cudaMemcpyDeviceToHost), "download");
        check(cudaFree(dX), "free");
        check(cudaFree(dMarks), "free");
        check(cudaFree(dCounts), "free");
        check(cudaFree(dPositions), "free");
        writeInts("data/positions.bin", x.data(), n);
        writeInts("data/count.bin", &total, 1);
    } catch (const std::exception& error) {
        std::cerr << error.what() << std::endl;
        return 1;
    }
    return 0;
}
