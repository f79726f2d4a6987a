#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <vector>

constexpr int kMaxSide = 4000000;
constexpr int kMaxEntries = 40000000;
constexpr int kThreads = 256;
constexpr int kWarps = kThreads / 32;

// An atomic addition without a result, which the memory system can carry out on its own.
__device__ __forceinline__ void reduceAdd(int64_t* target, int64_t value) {
    asm volatile("red.global.add.u64 [%0], %1;" ::"l"(__cvta_generic_to_global(target)), "l"(value) : "memory");
}

__global__ void multiplyTransposed(const int* __restrict__ rowPtr, const int* __restrict__ colIndex,
                                   const int* __restrict__ values, const int* __restrict__ x, int64_t* y, int rows) {
    const int row = blockIdx.x * kWarps + threadIdx.x / 32;
    if (row >= rows) return;
    const int64_t factor = x[row];
    if (factor == 0) return;
    const int end = rowPtr[row + 1];
    for (int e = rowPtr[row] + threadIdx.x % 32; e < end; e += 32) {
        reduceAdd(&y[colIndex[e]], values[e] * factor);
    }
}

#define CHECK(call)                                                                                 \
    do {                                                                                            \
        cudaError_t result = (call);                                                                \
        if (result != cudaSuccess) fail("CUDA call in line", __LINE__, cudaGetErrorString(result)); \
    } while (0)

[[noreturn]] static void fail(const char* what, int number, const char* why) {
    fprintf(stderr, "%s %d: %s\n", what, number, why);
    exit(1);
}

static std::vector<int> readInts(const char* path, size_t count) {
    std::vector<int> values(count);
    std::ifstream in(path, std::ios::binary | std::ios::ate);
    const std::streamsize bytes = count * sizeof(int);
    if (!in || in.tellg() != bytes || !in.seekg(0) || !in.read(reinterpret_cast<char*>(values.data()), bytes)) {
        fprintf(stderr, "%s: expected %zu integers\n", path, count);
        exit(1);
    }
    return values;
}

static void checkStructure(const std::vector<int>& rowPtr, const std::vector<int>& colIndex, int cols) {
    const int rows = static_cast<int>(rowPtr.size()) - 1;
    for (int r = 0; r < rows; ++r) {
        if (rowPtr[r] > rowPtr[r + 1]) fail("row", r, "row_ptr decreases");
    }
    if (rowPtr[0] != 0) fail("row", 0, "row_ptr does not start at 0");
    if (rowPtr[rows] != static_cast<int>(colIndex.size())) fail("row", rows, "row_ptr does not end at entries");
    for (const int c : colIndex) {
        if (c < 0 || c >= cols) fail("column", c, "not in the matrix");
    }
}

static int* upload(const std::vector<int>& host) {
    int* device = nullptr;
    CHECK(cudaMalloc(&device, host.size() * sizeof(int)));
    CHECK(cudaMemcpy(device, host.data(), host.size() * sizeof(int), cudaMemcpyHostToDevice));
    return device;
}

int main() {
    const std::vector<int> sizes = readInts("data/sizes.bin", 3);
    const int rows = sizes[0], cols = sizes[1], entries = sizes[2];
    if (rows < 1 || rows > kMaxSide) fail("rows", rows, "out of range");
    if (cols < 1 || cols > kMaxSide) fail("cols", cols, "out of range");
    if (entries < 1 || entries > kMaxEntries) fail("entries", entries, "out of range");
    const std::vector<int> rowPtr = readInts("data/row_ptr.bin", static_cast<size_t>(rows) + 1);
    const std::vector<int> colIndex = readInts("data/col_index.bin", entries);
    checkStructure(rowPtr, colIndex, cols);

    int* dRowPtr = upload(rowPtr);
    int* dColIndex = upload(colIndex);
    int* dValues = upload(readInts("data/values.bin", entries));
    int* dX = upload(readInts("data/x.bin", rows));
    int64_t* dY = nullptr;
    CHECK(cudaMalloc(&dY, cols * sizeof(int64_t)));
    CHECK(cudaMemset(dY, 0, cols * sizeof(int64_t)));

    multiplyTransposed<<<(rows + kWarps - 1) / kWarps, kThreads>>>(dRowPtr, dColIndex, dValues, dX, dY, rows);
    CHECK(cudaGetLastError());
    std::vector<int64_t> y(cols);
    CHECK(cudaMemcpy(y.data(), dY, cols * sizeof(int64_t), cudaMemcpyDeviceToHost));
    for (int* pointer : {dRowPtr, dColIndex, dValues, dX}) CHECK(cudaFree(pointer));
    CHECK(cudaFree(dY));

    std::ofstream out("data/y.bin", std::ios::binary);
    out.write(reinterpret_cast<const char*>(y.data()), y.size() * sizeof(int64_t));
    out.close();
    if (!out) {
        fprintf(stderr, "data/y.bin: cannot be written\n");
        return 1;
    }
    return 0;
}
