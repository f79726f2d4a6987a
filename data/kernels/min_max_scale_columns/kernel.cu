#include <cuda_runtime.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <vector>

constexpr int kMaxRows = 65536;
constexpr int kMaxCols = 16384;
constexpr int kWidth = 32;
constexpr int kHeight = 8;
constexpr int kMaxBlocksY = 64;

// Monotonic: a < b gives ordered(a) < ordered(b).
__device__ uint32_t ordered(float value) {
    const uint32_t bits = __float_as_uint(value);
    return bits & 0x80000000u ? ~bits : bits | 0x80000000u;
}

__device__ float fromOrdered(uint32_t word) {
    return __uint_as_float(word & 0x80000000u ? word & 0x7fffffffu : ~word);
}

__global__ void columnRange(const float* __restrict__ x, int rows, int cols, uint32_t* lowest, uint32_t* highest) {
    __shared__ uint32_t lows[kHeight][kWidth], highs[kHeight][kWidth];
    const int col = blockIdx.x * kWidth + threadIdx.x;

    uint32_t low = 0xffffffffu, high = 0u;
    if (col < cols) {
        for (int r = blockIdx.y * kHeight + threadIdx.y; r < rows; r += gridDim.y * kHeight) {
            const uint32_t word = ordered(x[static_cast<size_t>(r) * cols + col]);
            low = min(low, word);
            high = max(high, word);
        }
    }
    lows[threadIdx.y][threadIdx.x] = low;
    highs[threadIdx.y][threadIdx.x] = high;
    __syncthreads();

    if (threadIdx.y == 0 && col < cols) {
        for (int y = 1; y < kHeight; ++y) {
            low = min(low, lows[y][threadIdx.x]);
            high = max(high, highs[y][threadIdx.x]);
        }
        atomicMin(&lowest[col], low);
        atomicMax(&highest[col], high);
    }
}

__global__ void scaleColumns(const float* __restrict__ x, int rows, int cols, const uint32_t* __restrict__ lowest,
                             const uint32_t* __restrict__ highest, float* __restrict__ scaled, float* __restrict__ low,
                             float* __restrict__ high) {
    const int col = blockIdx.x * kWidth + threadIdx.x;
    if (col >= cols) return;
    const float from = fromOrdered(lowest[col]), to = fromOrdered(highest[col]);
    const float range = to - from;
    if (blockIdx.y == 0 && threadIdx.y == 0) {
        low[col] = from;
        high[col] = to;
    }
    for (int r = blockIdx.y * kHeight + threadIdx.y; r < rows; r += gridDim.y * kHeight) {
        const size_t i = static_cast<size_t>(r) * cols + col;
        scaled[i] = range > 0.0f ? (x[i] - from) / range : 0.0f;
    }
}

static void check(cudaError_t status, int line) {
    if (status == cudaSuccess) return;
    fprintf(stderr, "line %d: %s\n", line, cudaGetErrorString(status));
    exit(1);
}
#define CHECK(call) check((call), __LINE__)

template <typename T>
static std::vector<T> readVector(const char* path, size_t count) {
    std::vector<T> values(count);
    std::ifstream in(path, std::ios::binary | std::ios::ate);
    const std::streamsize bytes = count * sizeof(T);
    if (!in || in.tellg() != bytes || !in.seekg(0).read(reinterpret_cast<char*>(values.data()), bytes)) {
        fprintf(stderr, "%s: expected %zu values\n", path, count);
        exit(1);
    }
    return values;
}

static void save(const char* path, const float* device, size_t count) {
    std::vector<float> values(count);
    CHECK(cudaMemcpy(values.data(), device, count * sizeof(float), cudaMemcpyDeviceToHost));
    std::ofstream out(path, std::ios::binary);
    out.write(reinterpret_cast<const char*>(values.data()), count * sizeof(float));
    out.close();
    if (!out) {
        fprintf(stderr, "%s: cannot be written\n", path);
        exit(1);
    }
}

int main() {
    const std::vector<int> sizes = readVector<int>("data/sizes.bin", 2);
    const int rows = sizes[0], cols = sizes[1];
    if (rows < 1 || rows > kMaxRows || cols < 1 || cols > kMaxCols) {
        fprintf(stderr, "data/sizes.bin: rows or cols out of range\n");
        return 1;
    }
    const size_t count = static_cast<size_t>(rows) * cols;
    const std::vector<float> x = readVector<float>("data/x.bin", count);

    float *dX, *dScaled, *dLow, *dHigh;
    uint32_t *lowest, *highest;
    CHECK(cudaMalloc(&dX, count * sizeof(float)));
    CHECK(cudaMalloc(&dScaled, count * sizeof(float)));
    CHECK(cudaMalloc(&dLow, cols * sizeof(float)));
    CHECK(cudaMalloc(&dHigh, cols * sizeof(float)));
    CHECK(cudaMalloc(&lowest, cols * sizeof(uint32_t)));
    CHECK(cudaMalloc(&highest, cols * sizeof(uint32_t)));
    CHECK(cudaMemcpy(dX, x.data(), count * sizeof(float), cudaMemcpyHostToDevice));
    CHECK(cudaMemset(lowest, 0xff, cols * sizeof(uint32_t)));
    CHECK(cudaMemset(highest, 0, cols * sizeof(uint32_t)));

    const dim3 block(kWidth, kHeight);
    const dim3 grid((cols + kWidth - 1) / kWidth, std::min((rows + kHeight - 1) / kHeight, kMaxBlocksY));
    columnRange<<<grid, block>>>(dX, rows, cols, lowest, highest);
    CHECK(cudaGetLastError());
    scaleColumns<<<grid, block>>>(dX, rows, cols, lowest, highest, dScaled, dLow, dHigh);
    CHECK(cudaGetLastError());

    save("data/scaled.bin", dScaled, count);
    save("data/low.bin", dLow, cols);
    save("data/high.bin", dHigh, cols);
    for (float* pointer : {dX, dScaled, dLow, dHigh}) CHECK(cudaFree(pointer));
    CHECK(cudaFree(lowest));
    CHECK(cudaFree(highest));
    return 0;
}
