#include <cuda_runtime.h>

#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>
#include <vector>

constexpr int kThreads = 128;
constexpr int kWarps = kThreads / 32;
constexpr int kMaxRows = 65536;
constexpr int kMaxCols = 8192;

struct Pair {
    float sum;
    float error;  // what the roundings of sum have lost so far
};

__device__ __forceinline__ Pair join(Pair a, Pair b) {
    const float total = a.sum + b.sum;
    const float part = total - a.sum;
    const float lost = (a.sum - (total - part)) + (b.sum - part);
    return {total, a.error + b.error + lost};
}

__device__ __forceinline__ Pair product(float x, float y) {
    const float rounded = __fmul_rn(x, y);
    return {rounded, fmaf(x, y, -rounded)};
}

__global__ void compensatedDots(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ dots,
                                int cols) {
    __shared__ Pair warpPairs[kWarps];
    const float* rowA = a + static_cast<size_t>(blockIdx.x) * cols;
    const float* rowB = b + static_cast<size_t>(blockIdx.x) * cols;

    Pair own = {0.0f, 0.0f};
    for (int c = threadIdx.x; c < cols; c += kThreads) {
        own = join(own, product(rowA[c], rowB[c]));
    }
    for (int distance = 16; distance > 0; distance /= 2) {
        const float sum = __shfl_down_sync(0xffffffffu, own.sum, distance);
        const float error = __shfl_down_sync(0xffffffffu, own.error, distance);
        own = join(own, {sum, error});
    }
    if (threadIdx.x % 32 == 0) warpPairs[threadIdx.x / 32] = own;
    __syncthreads();

    if (threadIdx.x == 0) {
        for (int w = 1; w < kWarps; ++w) own = join(own, warpPairs[w]);
        dots[blockIdx.x] = own.sum + own.error;
    }
}

[[noreturn]] static void fail(const std::string& message) {
    std::cerr << message << std::endl;
    std::exit(EXIT_FAILURE);
}

static void check(cudaError_t status, const char* what) {
    if (status != cudaSuccess) fail(std::string(what) + ": " + cudaGetErrorString(status));
}

template <typename T>
static std::vector<T> readFile(const std::string& path, size_t count) {
    std::ifstream in(path, std::ios::binary | std::ios::ate);
    if (!in) fail(path + ": cannot be opened");
    if (static_cast<size_t>(in.tellg()) != count * sizeof(T)) fail(path + ": has the wrong length");
    std::vector<T> values(count);
    in.seekg(0);
    if (!in.read(reinterpret_cast<char*>(values.data()), count * sizeof(T))) fail(path + ": cannot be read");
    return values;
}

static float* toDevice(const std::vector<float>& host, const char* what) {
    float* device = nullptr;
    check(cudaMalloc(&device, host.size() * sizeof(float)), what);
    check(cudaMemcpy(device, host.data(), host.size() * sizeof(float), cudaMemcpyHostToDevice), what);
    return device;
}

int main() {
    const auto sizes = readFile<int>("data/sizes.bin", 2);
    const int rows = sizes[0], cols = sizes[1];
    if (rows < 1 || rows > kMaxRows) fail("data/sizes.bin: rows is out of range");
    if (cols < 1 || cols > kMaxCols) fail("data/sizes.bin: cols is out of range");
    const size_t count = static_cast<size_t>(rows) * cols;
    float* a = toDevice(readFile<float>("data/a.bin", count), "copy a");
    float* b = toDevice(readFile<float>("data/b.bin", count), "copy b");
    float* dots = nullptr;
    check(cudaMalloc(&dots, rows * sizeof(float)), "allocate the results");

    compensatedDots<<<rows, kThreads>>>(a, b, dots, cols);
    check(cudaGetLastError(), "launch");

    std::vector<float> result(rows);
    check(cudaMemcpy(result.data(), dots, rows * sizeof(float), cudaMemcpyDeviceToHost), "copy the results");
    check(cudaFree(a), "free a");
    check(cudaFree(b), "free b");
    check(cudaFree(dots), "free the results");

    std::ofstream out("data/dots.bin", std::ios::binary);
    out.write(reinterpret_cast<const char*>(result.data()), rows * sizeof(float));
    out.close();
    if (!out) fail("data/dots.bin: cannot be written");
    return EXIT_SUCCESS;
}
