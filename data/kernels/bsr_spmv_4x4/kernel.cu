#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <vector>

namespace cg = cooperative_groups;

constexpr int kMaxSide = 1000000;
constexpr int kMaxBlocks = 4000000;
constexpr int kSide = 4;
constexpr int kElements = kSide * kSide;  // also threads per block row
constexpr int kThreads = 128;
constexpr int kRowsPerBlock = kThreads / kElements;

__global__ void bsrSpmv(const int* __restrict__ rowPtr, const int* __restrict__ colIndex,
                        const float* __restrict__ values, const float* __restrict__ x, float* __restrict__ y,
                        int blockRows) {
    const auto tile = cg::tiled_partition<kElements>(cg::this_thread_block());
    const int blockRow = blockIdx.x * kRowsPerBlock + tile.meta_group_rank();
    if (blockRow >= blockRows) return;  // the whole tile
    const int element = tile.thread_rank();
    const int i = element / kSide, j = element % kSide;

    float sum = 0.0f;
    const int end = rowPtr[blockRow + 1];
    for (int b = rowPtr[blockRow]; b < end; ++b) {
        sum += values[b * kElements + element] * x[colIndex[b] * kSide + j];
    }
    const auto rowGroup = cg::tiled_partition<kSide>(tile);
    sum = cg::reduce(rowGroup, sum, cg::plus<float>());
    if (j == 0) y[blockRow * kSide + i] = sum;
}

static void check(cudaError_t status, const char* step) {
    if (status != cudaSuccess) {
        std::fprintf(stderr, "%s: %s\n", step, cudaGetErrorString(status));
        std::exit(EXIT_FAILURE);
    }
}

static void require(bool condition, const char* requirement) {
    if (!condition) {
        std::fprintf(stderr, "violated: %s\n", requirement);
        std::exit(EXIT_FAILURE);
    }
}

template <typename T>
struct Array {
    std::vector<T> host;
    T* device = nullptr;

    explicit Array(size_t count) : host(count) {}
    Array(const char* path, size_t count) : host(count) {
        std::ifstream in(path, std::ios::binary);
        in.read(reinterpret_cast<char*>(host.data()), count * sizeof(T));
        if (!in || in.peek() != std::ifstream::traits_type::eof()) {
            std::fprintf(stderr, "%s: missing, or not %zu values long\n", path, count);
            std::exit(EXIT_FAILURE);
        }
    }
    Array(const Array&) = delete;
    Array& operator=(const Array&) = delete;
    ~Array() { cudaFree(device); }

    size_t bytes() const { return host.size() * sizeof(T); }
    void allocate() { check(cudaMalloc(&device, bytes()), "cudaMalloc"); }
    void upload() {
        allocate();
        check(cudaMemcpy(device, host.data(), bytes(), cudaMemcpyHostToDevice), "copy to device");
    }
    void download() { check(cudaMemcpy(host.data(), device, bytes(), cudaMemcpyDeviceToHost), "copy to host"); }
};

int main() {
    const Array<int> sizes("data/sizes.bin", 3);
    const int blockRows = sizes.host[0], blockCols = sizes.host[1], blocks = sizes.host[2];
    require(blockRows >= 1 && blockRows <= kMaxSide, "block_rows is in 1..1000000");
    require(blockCols >= 1 && blockCols <= kMaxSide, "block_cols is in 1..1000000");
    require(blocks >= 1 && blocks <= kMaxBlocks, "blocks is in 1..4000000");

    Array<int> rowPtr("data/row_ptr.bin", static_cast<size_t>(blockRows) + 1);
    Array<int> colIndex("data/col_index.bin", blocks);
    Array<float> values("data/values.bin", static_cast<size_t>(blocks) * kElements);
    Array<float> x("data/x.bin", static_cast<size_t>(blockCols) * kSide);
    Array<float> y(static_cast<size_t>(blockRows) * kSide);
    require(rowPtr.host.front() == 0 && rowPtr.host.back() == blocks, "row_ptr goes from 0 to blocks");
    for (int r = 0; r < blockRows; ++r) require(rowPtr.host[r] <= rowPtr.host[r + 1], "row_ptr does not decrease");
    for (const int c : colIndex.host) require(c >= 0 && c < blockCols, "block columns are in 0..block_cols - 1");

    rowPtr.upload();
    colIndex.upload();
    values.upload();
    x.upload();
    y.allocate();
    const int grid = (blockRows + kRowsPerBlock - 1) / kRowsPerBlock;
    bsrSpmv<<<grid, kThreads>>>(rowPtr.device, colIndex.device, values.device, x.device, y.device, blockRows);
    check(cudaGetLastError(), "launch");
    y.download();

    std::ofstream out("data/y.bin", std::ios::binary);
    out.write(reinterpret_cast<const char*>(y.host.data()), y.bytes());
    out.close();
    require(out.good(), "data/y.bin can be written");
    return EXIT_SUCCESS;
}
