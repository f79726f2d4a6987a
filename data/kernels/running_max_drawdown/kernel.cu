#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
#include <cuda_runtime.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <vector>

namespace cg = cooperative_groups;

constexpr int kTile = 32;
constexpr int kThreads = 128;
constexpr int kRowsPerBlock = kThreads / kTile;
constexpr int kMaxSize = 16384;

__global__ void runningMax(const float* __restrict__ price, float* __restrict__ peak, float* __restrict__ worst,
                           int rows, int cols) {
    const auto tile = cg::tiled_partition<kTile>(cg::this_thread_block());
    const int row = blockIdx.x * kRowsPerBlock + tile.meta_group_rank();
    if (row >= rows) return;

    const size_t start = static_cast<size_t>(row) * cols;
    float carry = -INFINITY;
    float fall = 0.0f;
    for (int base = 0; base < cols; base += kTile) {
        const int c = base + tile.thread_rank();
        const float value = c < cols ? price[start + c] : -INFINITY;
        const float highest = fmaxf(carry, cg::inclusive_scan(tile, value, cg::greater<float>()));
        if (c < cols) {
            peak[start + c] = highest;
            fall = fmaxf(fall, highest - value);
        }
        carry = tile.shfl(highest, kTile - 1);
    }
    fall = cg::reduce(tile, fall, cg::greater<float>());
    if (tile.thread_rank() == 0) worst[row] = fall;
}

#define CHECK(call) check((call), #call)

static void check(cudaError_t status, const char* call) {
    if (status != cudaSuccess) {
        std::fprintf(stderr, "%s: %s\n", call, cudaGetErrorString(status));
        std::exit(EXIT_FAILURE);
    }
}

// Reads a file that must have exactly this length.
static void readFile(const char* path, void* target, size_t bytes) {
    std::ifstream in(path, std::ios::binary | std::ios::ate);
    const bool fits = in && static_cast<size_t>(in.tellg()) == bytes;
    if (!fits || !in.seekg(0).read(static_cast<char*>(target), bytes)) {
        std::fprintf(stderr, "%s: expected %zu bytes\n", path, bytes);
        std::exit(EXIT_FAILURE);
    }
}

static void writeFile(const char* path, const std::vector<float>& values) {
    std::ofstream out(path, std::ios::binary);
    out.write(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float));
    out.close();
    if (!out) {
        std::fprintf(stderr, "%s: cannot be written\n", path);
        std::exit(EXIT_FAILURE);
    }
}

int main() {
    int sizes[2];
    readFile("data/sizes.bin", sizes, sizeof(sizes));
    const int rows = sizes[0], cols = sizes[1];
    if (rows < 1 || rows > kMaxSize || cols < 1 || cols > kMaxSize) {
        std::fprintf(stderr, "data/sizes.bin: %d rows, %d cols; allowed are 1 to %d\n", rows, cols, kMaxSize);
        return EXIT_FAILURE;
    }
    std::vector<float> table(static_cast<size_t>(rows) * cols);
    const size_t bytes = table.size() * sizeof(float);
    readFile("data/price.bin", table.data(), bytes);

    float *price, *peak, *worst;
    CHECK(cudaMalloc(&price, bytes));
    CHECK(cudaMalloc(&peak, bytes));
    CHECK(cudaMalloc(&worst, rows * sizeof(float)));
    CHECK(cudaMemcpy(price, table.data(), bytes, cudaMemcpyHostToDevice));

    runningMax<<<(rows + kRowsPerBlock - 1) / kRowsPerBlock, kThreads>>>(price, peak, worst, rows, cols);
    CHECK(cudaGetLastError());

    std::vector<float> falls(rows);
    CHECK(cudaMemcpy(table.data(), peak, bytes, cudaMemcpyDeviceToHost));
    CHECK(cudaMemcpy(falls.data(), worst, rows * sizeof(float), cudaMemcpyDeviceToHost));
    CHECK(cudaFree(price));
    CHECK(cudaFree(peak));
    CHECK(cudaFree(worst));
    writeFile("data/peak.bin", table);
    writeFile("data/worst.bin", falls);
    return EXIT_SUCCESS;
}
