#include <cuda_runtime.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <vector>

constexpr int kMaxRows = 65536;
constexpr int kMaxCols = 2048;
constexpr int kMaxThreads = 512;
constexpr int64_t kPadding = std::numeric_limits<int64_t>::max();

__global__ void sortRows(const int64_t* __restrict__ x, int64_t* __restrict__ sorted, int cols, int padded) {
    extern __shared__ int64_t place[];
    const size_t start = static_cast<size_t>(blockIdx.x) * cols;
    for (int i = threadIdx.x; i < padded; i += blockDim.x) place[i] = i < cols ? x[start + i] : kPadding;
    __syncthreads();

    for (int p = 1; p < padded; p *= 2) {
        for (int k = p; k > 0; k /= 2) {
            for (int t = threadIdx.x; t < padded / 2; t += blockDim.x) {
                const int a = 2 * k * (t / k) + t % k + (k < p ? k : 0);
                const int b = a + k;
                if (b < padded && a / (2 * p) == b / (2 * p)) {
                    const int64_t first = place[a], second = place[b];
                    if (first > second) {
                        place[a] = second;
                        place[b] = first;
                    }
                }
            }
            __syncthreads();
        }
    }
    for (int i = threadIdx.x; i < cols; i += blockDim.x) sorted[start + i] = place[i];
}

static void check(cudaError_t status, const char* expression, int line) {
    if (status != cudaSuccess) {
        fprintf(stderr, "line %d: %s: %s\n", line, expression, cudaGetErrorString(status));
        exit(1);
    }
}
#define CHECK(expression) check((expression), #expression, __LINE__)

template <typename T>
static std::vector<T> readFile(const char* path, size_t count) {
    std::vector<T> values(count);
    std::ifstream in(path, std::ios::binary | std::ios::ate);
    if (!in || static_cast<size_t>(in.tellg()) != count * sizeof(T)) {
        fprintf(stderr, "%s: expected %zu bytes\n", path, count * sizeof(T));
        exit(1);
    }
    in.seekg(0);
    if (!in.read(reinterpret_cast<char*>(values.data()), count * sizeof(T))) {
        fprintf(stderr, "%s: cannot be read\n", path);
        exit(1);
    }
    return values;
}

int main() {
    const std::vector<int32_t> sizes = readFile<int32_t>("data/sizes.bin", 2);
    const int rows = sizes[0], cols = sizes[1];
    if (rows < 1 || rows > kMaxRows || cols < 1 || cols > kMaxCols) {
        fprintf(stderr, "data/sizes.bin: %d x %d is not allowed\n", rows, cols);
        return 1;
    }
    std::vector<int64_t> values = readFile<int64_t>("data/x.bin", static_cast<size_t>(rows) * cols);
    const size_t bytes = values.size() * sizeof(int64_t);

    int padded = 2;
    while (padded < cols) padded *= 2;

    int64_t *dX, *dSorted;
    CHECK(cudaMalloc(&dX, bytes));
    CHECK(cudaMalloc(&dSorted, bytes));
    CHECK(cudaMemcpy(dX, values.data(), bytes, cudaMemcpyHostToDevice));
    sortRows<<<rows, std::min(padded / 2, kMaxThreads), padded * sizeof(int64_t)>>>(dX, dSorted, cols, padded);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(values.data(), dSorted, bytes, cudaMemcpyDeviceToHost));
    CHECK(cudaFree(dX));
    CHECK(cudaFree(dSorted));

    std::ofstream out("data/sorted.bin", std::ios::binary);
    out.write(reinterpret_cast<const char*>(values.data()), bytes);
    out.close();
    if (!out) {
        fprintf(stderr, "data/sorted.bin: cannot be written\n");
        return 1;
    }
    return 0;
}
