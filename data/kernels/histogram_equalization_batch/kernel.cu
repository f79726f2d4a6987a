#include <cub/block/block_scan.cuh>
#include <cuda_runtime.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <vector>

constexpr int kBins = 256;  // also the threads of a block: thread b owns bin b
constexpr int kMaxImages = 1024, kMaxPixels = 4194304;
constexpr int kMaxBlocks = 64;  // per image

__global__ void countLevels(const uint8_t* __restrict__ images, int* __restrict__ counts, int pixels) {
    __shared__ int local[kBins];
    const uint8_t* image = images + static_cast<size_t>(blockIdx.y) * pixels;
    local[threadIdx.x] = 0;
    __syncthreads();
    for (int i = blockIdx.x * kBins + threadIdx.x; i < pixels; i += gridDim.x * kBins) {
        atomicAdd(&local[image[i]], 1);
    }
    __syncthreads();
    if (local[threadIdx.x] > 0) atomicAdd(&counts[blockIdx.y * kBins + threadIdx.x], local[threadIdx.x]);
}

__global__ void makeTables(const int* __restrict__ counts, uint8_t* __restrict__ tables, int pixels) {
    using Scan = cub::BlockScan<int, kBins>;
    __shared__ typename Scan::TempStorage storage;
    __shared__ int darkest;  // how many pixels have the lowest level that occurs
    const int level = threadIdx.x;
    const int count = counts[blockIdx.x * kBins + level];
    int upTo;
    Scan(storage).InclusiveSum(count, upTo);
    if (count > 0 && upTo == count) darkest = count;  // true for exactly one level
    __syncthreads();

    const int range = pixels - darkest;
    int mapped = level;
    if (range > 0) mapped = (max(upTo - darkest, 0) * 255 + range / 2) / range;
    tables[blockIdx.x * kBins + level] = static_cast<uint8_t>(mapped);
}

__global__ void applyTables(const uint8_t* __restrict__ images, const uint8_t* __restrict__ tables,
                            uint8_t* __restrict__ equalized, int pixels) {
    __shared__ uint8_t table[kBins];
    table[threadIdx.x] = tables[blockIdx.y * kBins + threadIdx.x];
    __syncthreads();
    const size_t base = static_cast<size_t>(blockIdx.y) * pixels;
    for (int i = blockIdx.x * kBins + threadIdx.x; i < pixels; i += gridDim.x * kBins) {
        equalized[base + i] = table[images[base + i]];
    }
}

static void fail(const char* where, const char* what) {
    std::cerr << where << ": " << what << '\n';
    std::exit(EXIT_FAILURE);
}

static void check(cudaError_t status, const char* step) {
    if (status != cudaSuccess) fail(step, cudaGetErrorString(status));
}

static void readBytes(const char* path, void* target, size_t bytes) {
    std::ifstream in(path, std::ios::binary | std::ios::ate);
    if (!in || static_cast<size_t>(in.tellg()) != bytes) fail(path, "missing, or not of the expected length");
    in.seekg(0);
    if (!in.read(static_cast<char*>(target), bytes)) fail(path, "read error");
}

static void writeBytes(const char* path, const void* source, size_t bytes) {
    std::ofstream out(path, std::ios::binary);
    out.write(static_cast<const char*>(source), bytes);
    out.close();
    if (!out) fail(path, "write error");
}

int main() {
    int sizes[2];
    readBytes("data/sizes.bin", sizes, sizeof(sizes));
    const int images = sizes[0], pixels = sizes[1];
    if (images < 1 || images > kMaxImages || pixels < 1 || pixels > kMaxPixels) {
        fail("data/sizes.bin", "images or pixels is out of range");
    }
    std::vector<uint8_t> host(static_cast<size_t>(images) * pixels);
    readBytes("data/images.bin", host.data(), host.size());

    uint8_t *dImages, *dTables, *dEqualized;
    int* dCounts;
    const size_t countBytes = images * kBins * sizeof(int);
    check(cudaMalloc(&dImages, host.size()), "cudaMalloc");
    check(cudaMalloc(&dEqualized, host.size()), "cudaMalloc");
    check(cudaMalloc(&dTables, images * kBins), "cudaMalloc");
    check(cudaMalloc(&dCounts, countBytes), "cudaMalloc");
    check(cudaMemset(dCounts, 0, countBytes), "cudaMemset");
    check(cudaMemcpy(dImages, host.data(), host.size(), cudaMemcpyHostToDevice), "copy to the device");

    const dim3 grid(std::min((pixels + kBins - 1) / kBins, kMaxBlocks), images);
    countLevels<<<grid, kBins>>>(dImages, dCounts, pixels);
    check(cudaGetLastError(), "countLevels");
    makeTables<<<images, kBins>>>(dCounts, dTables, pixels);
    check(cudaGetLastError(), "makeTables");
    applyTables<<<grid, kBins>>>(dImages, dTables, dEqualized, pixels);
    check(cudaGetLastError(), "applyTables");

    check(cudaMemcpy(host.data(), dEqualized, host.size(), cudaMemcpyDeviceToHost), "copy to the host");
    for (uint8_t* pointer : {dImages, dTables, dEqualized}) check(cudaFree(pointer), "cudaFree");
    check(cudaFree(dCounts), "cudaFree");
    writeBytes("data/equalized.bin", host.data(), host.size());
    return EXIT_SUCCESS;
}
