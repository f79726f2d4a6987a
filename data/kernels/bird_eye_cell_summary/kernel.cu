#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

constexpr int kMaxPoints = 1 << 20, kMaxSide = 1024, kThreads = 256;

struct Grid {
    float x0, y0, side;
    int rows, cols;
};

__global__ void insertPoints(const float4* __restrict__ points, int n, Grid grid, unsigned long long* keys,
                             int* counts) {
    const int i = blockIdx.x * kThreads + threadIdx.x;
    if (i >= n) return;
    const float4 p = points[i];
    const float col = floorf((p.x - grid.x0) / grid.side), row = floorf((p.y - grid.y0) / grid.side);
    if (!(col >= 0.0f && col < grid.cols && row >= 0.0f && row < grid.rows)) return;
    const int cell = static_cast<int>(row) * grid.cols + static_cast<int>(col);
    const uint32_t bits = __float_as_uint(p.z + 0.0f);
    const uint32_t sortable = bits >> 31 ? ~bits : bits | 0x80000000u;
    atomicMax(&keys[cell], static_cast<unsigned long long>(sortable) << 32 | (0xFFFFFFFFu - i));
    atomicAdd(&counts[cell], 1);
}

__global__ void readCells(const float4* __restrict__ points, const unsigned long long* __restrict__ keys,
                          const int* __restrict__ counts, float* height, float* reflectance, int cells) {
    const int cell = blockIdx.x * kThreads + threadIdx.x;
    if (cell >= cells) return;
    float2 top = make_float2(0.0f, 0.0f);
    if (counts[cell] > 0) {
        const float4 p = points[0xFFFFFFFFu - static_cast<uint32_t>(keys[cell])];
        top = make_float2(p.z, p.w);
    }
    height[cell] = top.x;
    reflectance[cell] = top.y;
}

static int failures = 0;

static void check(cudaError_t status, int line) {
    if (status == cudaSuccess) return;
    fprintf(stderr, "line %d: %s\n", line, cudaGetErrorString(status));
    exit(1);
}
#define CHECK(call) check((call), __LINE__)

static bool load(const char* path, void* data, size_t bytes) {
    FILE* file = fopen(path, "rb");
    const bool good = file && fread(data, 1, bytes, file) == bytes && fgetc(file) == EOF;
    if (file) fclose(file);
    if (!good) fprintf(stderr, "%s: not a file of %zu bytes\n", path, bytes);
    return good;
}

static void saveDevice(const char* path, const void* device, size_t bytes) {
    std::vector<char> host(bytes);
    CHECK(cudaMemcpy(host.data(), device, bytes, cudaMemcpyDeviceToHost));
    FILE* file = fopen(path, "wb");
    const bool whole = file && fwrite(host.data(), 1, bytes, file) == bytes;
    if (!file || fclose(file) != 0 || !whole) {
        fprintf(stderr, "%s: cannot be written\n", path);
        ++failures;
    }
}

int main() {
    int sizes[3];
    if (!load("data/sizes.bin", sizes, sizeof sizes)) return 1;
    const int n = sizes[0], rows = sizes[1], cols = sizes[2];
    if (n < 1 || n > kMaxPoints || rows < 1 || rows > kMaxSide || cols < 1 || cols > kMaxSide) {
        fprintf(stderr, "data/sizes.bin: out of range\n");
        return 1;
    }
    float corner[3];
    std::vector<float4> points(n);
    if (!load("data/grid.bin", corner, sizeof corner) || !load("data/points.bin", points.data(), n * sizeof(float4))) {
        return 1;
    }
    const Grid grid = {corner[0], corner[1], corner[2], rows, cols};
    const int cells = rows * cols;

    float4* dPoints;
    unsigned long long* dKeys;
    int* dCounts;
    float* dMaps;  // height, then reflectance
    CHECK(cudaMalloc(&dPoints, n * sizeof(float4)));
    CHECK(cudaMalloc(&dKeys, cells * sizeof(unsigned long long)));
    CHECK(cudaMalloc(&dCounts, cells * sizeof(int)));
    CHECK(cudaMalloc(&dMaps, 2 * cells * sizeof(float)));
    CHECK(cudaMemcpy(dPoints, points.data(), n * sizeof(float4), cudaMemcpyHostToDevice));
    CHECK(cudaMemset(dKeys, 0, cells * sizeof(unsigned long long)));
    CHECK(cudaMemset(dCounts, 0, cells * sizeof(int)));
    insertPoints<<<(n + kThreads - 1) / kThreads, kThreads>>>(dPoints, n, grid, dKeys, dCounts);
    CHECK(cudaGetLastError());
    readCells<<<(cells + kThreads - 1) / kThreads, kThreads>>>(dPoints, dKeys, dCounts, dMaps, dMaps + cells, cells);
    CHECK(cudaGetLastError());
    saveDevice("data/height.bin", dMaps, cells * sizeof(float));
    saveDevice("data/reflectance.bin", dMaps + cells, cells * sizeof(float));
    saveDevice("data/counts.bin", dCounts, cells * sizeof(int));
    CHECK(cudaFree(dPoints));
    CHECK(cudaFree(dKeys));
    CHECK(cudaFree(dCounts));
    CHECK(cudaFree(dMaps));
    return failures == 0 ? 0 : 1;
}
