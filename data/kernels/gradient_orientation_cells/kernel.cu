#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

namespace cg = cooperative_groups;

constexpr int kMaxSide = 16384;
constexpr int kCell = 8, kSectors = 8;
constexpr int kCellsPerBlock = 4;
constexpr int kThreads = kCellsPerBlock * kCell * kCell;
constexpr int kTileWidth = kCellsPerBlock * kCell + 2, kTileHeight = kCell + 2;

// Sector of 45 degrees that holds the angle of (gx, gy); 0 for the zero vector.
__device__ int sectorOf(int gx, int gy) {
    const int ax = abs(gx), ay = abs(gy);
    if (gx > 0 && gy >= 0) return ay < ax ? 0 : 1;
    if (gx <= 0 && gy > 0) return ax < ay ? 2 : 3;
    if (gx < 0 && gy <= 0) return ay < ax ? 4 : 5;
    if (gy < 0) return ax < ay ? 6 : 7;
    return 0;
}

__global__ void orientationCells(const uint8_t* __restrict__ image, int height, int width, int cellColumns,
                                 int* __restrict__ cells) {
    __shared__ uint8_t tile[kTileHeight][kTileWidth];
    __shared__ int counters[kCellsPerBlock][kSectors];
    const int firstX = blockIdx.x * kCellsPerBlock * kCell, firstY = blockIdx.y * kCell;

    for (int i = threadIdx.x; i < kTileHeight * kTileWidth; i += kThreads) {
        const int y = min(max(firstY + i / kTileWidth - 1, 0), height - 1);
        const int x = min(max(firstX + i % kTileWidth - 1, 0), width - 1);
        tile[i / kTileWidth][i % kTileWidth] = image[static_cast<size_t>(y) * width + x];
    }
    if (threadIdx.x < kCellsPerBlock * kSectors) counters[threadIdx.x / kSectors][threadIdx.x % kSectors] = 0;
    __syncthreads();

    const int cell = threadIdx.x / (kCell * kCell);  // the same in all lanes of a warp
    const int dy = threadIdx.x / kCell % kCell, dx = cell * kCell + threadIdx.x % kCell;
    int sector = 0, weight = 0;
    if (firstY + dy < height && firstX + dx < width) {
        const int gx = tile[dy + 1][dx + 2] - tile[dy + 1][dx];
        const int gy = tile[dy + 2][dx + 1] - tile[dy][dx + 1];
        sector = sectorOf(gx, gy);
        weight = abs(gx) + abs(gy);
    }
    const auto warp = cg::tiled_partition<32>(cg::this_thread_block());
    const cg::coalesced_group same = cg::labeled_partition(warp, sector);
    const int sum = cg::reduce(same, weight, cg::plus<int>());
    if (same.thread_rank() == 0) atomicAdd(&counters[cell][sector], sum);
    __syncthreads();

    const int column = blockIdx.x * kCellsPerBlock + threadIdx.x / kSectors;
    if (threadIdx.x < kCellsPerBlock * kSectors && column < cellColumns) {
        const size_t at = (static_cast<size_t>(blockIdx.y) * cellColumns + column) * kSectors + threadIdx.x % kSectors;
        cells[at] = counters[threadIdx.x / kSectors][threadIdx.x % kSectors];
    }
}

#define CUDA_OR_DIE(call)                                                                            \
    do {                                                                                             \
        const cudaError_t code_ = (call);                                                            \
        if (code_ != cudaSuccess) {                                                                  \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(code_));            \
            exit(2);                                                                                 \
        }                                                                                            \
    } while (0)

static void readExactly(const char* path, void* target, size_t bytes) {
    FILE* file = fopen(path, "rb");
    if (!file || fread(target, 1, bytes, file) != bytes || fgetc(file) != EOF) {
        fprintf(stderr, "%s: expected a file of %zu bytes\n", path, bytes);
        exit(1);
    }
    fclose(file);
}

static void writeAll(const char* path, const void* source, size_t bytes) {
    FILE* file = fopen(path, "wb");
    const bool written = file && fwrite(source, 1, bytes, file) == bytes;
    if ((file && fclose(file) != 0) || !written) {
        fprintf(stderr, "%s: cannot be written\n", path);
        exit(1);
    }
}

int main() {
    int32_t sizes[2];
    readExactly("data/sizes.bin", sizes, sizeof(sizes));
    const int height = sizes[0], width = sizes[1];
    if (height < 1 || height > kMaxSide || width < 1 || width > kMaxSide) {
        fprintf(stderr, "data/sizes.bin: %d x %d is not supported\n", height, width);
        return 1;
    }
    std::vector<uint8_t> image(static_cast<size_t>(height) * width);
    readExactly("data/image.bin", image.data(), image.size());

    const int cellRows = (height + kCell - 1) / kCell, cellColumns = (width + kCell - 1) / kCell;
    std::vector<int32_t> cells(static_cast<size_t>(cellRows) * cellColumns * kSectors);
    const size_t cellBytes = cells.size() * sizeof(int32_t);
    uint8_t* deviceImage = nullptr;
    int32_t* deviceCells = nullptr;
    CUDA_OR_DIE(cudaMalloc(&deviceImage, image.size()));
    CUDA_OR_DIE(cudaMalloc(&deviceCells, cellBytes));
    CUDA_OR_DIE(cudaMemcpy(deviceImage, image.data(), image.size(), cudaMemcpyHostToDevice));

    const dim3 grid((cellColumns + kCellsPerBlock - 1) / kCellsPerBlock, cellRows);
    orientationCells<<<grid, kThreads>>>(deviceImage, height, width, cellColumns, deviceCells);
    CUDA_OR_DIE(cudaGetLastError());

    CUDA_OR_DIE(cudaMemcpy(cells.data(), deviceCells, cellBytes, cudaMemcpyDeviceToHost));
    CUDA_OR_DIE(cudaFree(deviceImage));
    CUDA_OR_DIE(cudaFree(deviceCells));
    writeAll("data/cells.bin", cells.data(), cellBytes);
    return 0;
}
