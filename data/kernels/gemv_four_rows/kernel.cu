#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <vector>

namespace cg = cooperative_groups;

constexpr int kMaxRows = 65536, kMaxCols = 32768;
constexpr int kThreads = 256;
constexpr int kWarps = kThreads / 32;
constexpr int kRows = 4;  // rows per block

__global__ void gemv(const float* __restrict__ A, const float* __restrict__ x, const float* __restrict__ y,
                     float* __restrict__ result, int rows, int cols, float alpha, float beta) {
    __shared__ float partial[kWarps][kRows];
    const cg::thread_block block = cg::this_thread_block();
    const cg::thread_block_tile<32> warp = cg::tiled_partition<32>(block);
    const int firstRow = blockIdx.x * kRows;

    const float* row[kRows];
#pragma unroll
    for (int i = 0; i < kRows; ++i) {
        row[i] = A + static_cast<size_t>(min(firstRow + i, rows - 1)) * cols;
    }

    float sum[kRows] = {};
    for (int c = threadIdx.x; c < cols; c += kThreads) {
        const float factor = x[c];
#pragma unroll
        for (int i = 0; i < kRows; ++i) sum[i] += row[i][c] * factor;
    }

#pragma unroll
    for (int i = 0; i < kRows; ++i) {
        const float total = cg::reduce(warp, sum[i], cg::plus<float>());
        if (warp.thread_rank() == 0) partial[warp.meta_group_rank()][i] = total;
    }
    block.sync();

    const int r = firstRow + threadIdx.x;
    if (threadIdx.x < kRows && r < rows) {
        float product = 0.0f;
        for (int w = 0; w < kWarps; ++w) product += partial[w][threadIdx.x];
        result[r] = alpha * product + beta * y[r];
    }
}

static void check(cudaError_t status) {
    if (status != cudaSuccess) {
        std::fprintf(stderr, "CUDA: %s\n", cudaGetErrorString(status));
        std::exit(1);
    }
}

template <typename T>
static std::vector<T> readFile(const char* path, size_t count) {
    std::vector<T> values(count);
    const std::streamsize bytes = count * sizeof(T);
    std::ifstream in(path, std::ios::binary | std::ios::ate);
    if (!in || in.tellg() != bytes || !in.seekg(0) || !in.read(reinterpret_cast<char*>(values.data()), bytes)) {
        std::fprintf(stderr, "%s: does not hold %zu values\n", path, count);
        std::exit(1);
    }
    return values;
}

static float* upload(const std::vector<float>& host) {
    float* device = nullptr;
    check(cudaMalloc(&device, host.size() * sizeof(float)));
    check(cudaMemcpy(device, host.data(), host.size() * sizeof(float), cudaMemcpyHostToDevice));
    return device;
}

int main() {
    const std::vector<int> sizes = readFile<int>("data/sizes.bin", 2);
    const int rows = sizes[0], cols = sizes[1];
    if (rows < 1 || rows > kMaxRows || cols < 1 || cols > kMaxCols) {
        std::fprintf(stderr, "data/sizes.bin: %d x %d is not supported\n", rows, cols);
        return 1;
    }
    const std::vector<float> scalars = readFile<float>("data/scalars.bin", 2);
    float* A = upload(readFile<float>("data/A.bin", static_cast<size_t>(rows) * cols));
    float* x = upload(readFile<float>("data/x.bin", cols));
    float* y = upload(readFile<float>("data/y.bin", rows));
    float* result = nullptr;
    check(cudaMalloc(&result, rows * sizeof(float)));

    gemv<<<(rows + kRows - 1) / kRows, kThreads>>>(A, x, y, result, rows, cols, scalars[0], scalars[1]);
    check(cudaGetLastError());

    std::vector<float> host(rows);
    check(cudaMemcpy(host.data(), result, rows * sizeof(float), cudaMemcpyDeviceToHost));
    for (float* pointer : {A, x, y, result}) check(cudaFree(pointer));

    std::ofstream out("data/result.bin", std::ios::binary);
    out.write(reinterpret_cast<const char*>(host.data()), host.size() * sizeof(float));
    out.close();
    if (!out) {
        std::fprintf(stderr, "data/result.bin: cannot be written\n");
        return 1;
    }
    return 0;
}
