#include <cuda_runtime.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <vector>

constexpr int kMaxSide = 1000000;
constexpr int kMaxWidth = 256;
constexpr int kThreads = 128;
constexpr int kBlocksPerMultiprocessor = 32;

__global__ void ellSpmv(const int* __restrict__ colIndex, const double* __restrict__ values,
                        const double* __restrict__ x, double* __restrict__ y, int rows, int width) {
    const int step = gridDim.x * kThreads;
    for (int row = blockIdx.x * kThreads + threadIdx.x; row < rows; row += step) {
        double sum = 0.0;
        for (int s = 0; s < width; ++s) {
            const size_t slot = static_cast<size_t>(s) * rows + row;
            const int col = colIndex[slot];
            if (col >= 0) sum += values[slot] * x[col];
        }
        y[row] = sum;
    }
}

#define CUDA_CHECK(call)                                                                \
    do {                                                                                \
        const cudaError_t status = (call);                                              \
        if (status != cudaSuccess) {                                                    \
            std::fprintf(stderr, "%s failed: %s\n", #call, cudaGetErrorString(status)); \
            std::exit(1);                                                               \
        }                                                                               \
    } while (0)

static void require(bool condition, const char* message) {
    if (!condition) {
        std::fprintf(stderr, "%s\n", message);
        std::exit(1);
    }
}

template <typename T>
static std::vector<T> readFile(const char* path, size_t count) {
    std::vector<T> values(count);
    std::ifstream in(path, std::ios::binary);
    in.read(reinterpret_cast<char*>(values.data()), count * sizeof(T));
    if (!in || in.get() != std::ifstream::traits_type::eof()) {
        std::fprintf(stderr, "%s: expected exactly %zu bytes\n", path, count * sizeof(T));
        std::exit(1);
    }
    return values;
}

template <typename T>
static T* upload(const std::vector<T>& host) {
    T* device = nullptr;
    CUDA_CHECK(cudaMalloc(&device, host.size() * sizeof(T)));
    CUDA_CHECK(cudaMemcpy(device, host.data(), host.size() * sizeof(T), cudaMemcpyHostToDevice));
    return device;
}

int main() {
    const std::vector<int> sizes = readFile<int>("data/sizes.bin", 3);
    const int rows = sizes[0], cols = sizes[1], width = sizes[2];
    require(rows >= 1 && rows <= kMaxSide && cols >= 1 && cols <= kMaxSide, "rows or cols is not in 1..1000000");
    require(width >= 1 && width <= kMaxWidth, "width is not in 1..256");
    const size_t slots = static_cast<size_t>(width) * rows;
    const std::vector<int> colIndex = readFile<int>("data/col_index.bin", slots);
    require(std::all_of(colIndex.begin(), colIndex.end(), [cols](int c) { return c >= -1 && c < cols; }),
            "data/col_index.bin: an index is out of range");

    int* dColIndex = upload(colIndex);
    double* dValues = upload(readFile<double>("data/values.bin", slots));
    double* dX = upload(readFile<double>("data/x.bin", cols));
    double* dY = nullptr;
    CUDA_CHECK(cudaMalloc(&dY, rows * sizeof(double)));

    int device = 0, multiprocessors = 0;
    CUDA_CHECK(cudaGetDevice(&device));
    CUDA_CHECK(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device));
    const int blocks = std::min((rows + kThreads - 1) / kThreads, multiprocessors * kBlocksPerMultiprocessor);
    ellSpmv<<<blocks, kThreads>>>(dColIndex, dValues, dX, dY, rows, width);
    CUDA_CHECK(cudaGetLastError());

    std::vector<double> y(rows);
    CUDA_CHECK(cudaMemcpy(y.data(), dY, rows * sizeof(double), cudaMemcpyDeviceToHost));
    CUDA_CHECK(cudaFree(dColIndex));
    CUDA_CHECK(cudaFree(dValues));
    CUDA_CHECK(cudaFree(dX));
    CUDA_CHECK(cudaFree(dY));

    std::ofstream out("data/y.bin", std::ios::binary);
    out.write(reinterpret_cast<const char*>(y.data()), y.size() * sizeof(double));
    out.close();
    require(out.good(), "data/y.bin: cannot be written");
    return 0;
}
