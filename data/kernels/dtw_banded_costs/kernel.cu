#include <cuda_runtime.h>

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>

constexpr int kThreads = 128;

__global__ void warp(const float* a, const float* b, int length, int band, float* cost) {
    extern __shared__ float memory[];  // three diagonals; row i of the table is at i + 1
    const float* x = a + static_cast<size_t>(blockIdx.x) * length;
    const float* y = b + static_cast<size_t>(blockIdx.x) * length;
    const int stride = length + 2;
    for (int i = threadIdx.x; i < 3 * stride; i += kThreads) memory[i] = INFINITY;
    __syncthreads();

    for (int d = 0; d <= 2 * (length - 1); ++d) {
        float* current = memory + d % 3 * stride;
        const float* previous = memory + (d + 2) % 3 * stride;
        const float* beforeThat = memory + (d + 1) % 3 * stride;
        const int low = max(max(0, d - length + 1), (d - band + 1) >> 1);
        const int high = min(min(length - 1, d), (d + band) >> 1);
        for (int i = low + threadIdx.x; i <= high; i += kThreads) {
            const float cheapest = fminf(fminf(previous[i], previous[i + 1]), beforeThat[i]);
            current[i + 1] = fabsf(x[i] - y[d - i]) + (d == 0 ? 0.0f : cheapest);
        }
        if (threadIdx.x == 0) {  // what an older diagonal left beside the range
            current[low] = INFINITY;
            current[high + 2] = INFINITY;
        }
        __syncthreads();
    }
    if (threadIdx.x == 0) cost[blockIdx.x] = memory[2 * (length - 1) % 3 * stride + length];
}

[[noreturn]] static void fail(const std::string& message) {
    std::cerr << message << '\n';
    std::exit(1);
}

static void checked(cudaError_t status, const char* step) {
    if (status != cudaSuccess) fail(std::string(step) + ": " + cudaGetErrorString(status));
}

// Memory that host and device see; the process's end frees it.
template <typename T>
static T* managed(size_t count) {
    T* data = nullptr;
    checked(cudaMallocManaged(&data, count * sizeof(T)), "cudaMallocManaged");
    return data;
}

template <typename T>
static T* fromFile(const char* path, size_t count) {
    T* data = managed<T>(count);
    std::ifstream in(path, std::ios::binary);
    in.read(reinterpret_cast<char*>(data), count * sizeof(T));
    if (!in || in.get() != EOF) fail(std::string(path) + ": missing, too short or too long");
    return data;
}

template <typename T>
static void toFile(const char* path, const T* data, size_t count) {
    std::ofstream out(path, std::ios::binary);
    out.write(reinterpret_cast<const char*>(data), count * sizeof(T));
    out.close();
    if (!out) fail(std::string(path) + ": cannot be written");
}

int main() {
    const int* sizes = fromFile<int>("data/sizes.bin", 3);
    const int pairs = sizes[0], length = sizes[1], band = sizes[2];
    if (pairs < 1 || pairs > 65535 || length < 1 || length > 2048 || band < 1 || band > 256)
        fail("data/sizes.bin: out of range");
    const float* a = fromFile<float>("data/a.bin", static_cast<size_t>(pairs) * length);
    const float* b = fromFile<float>("data/b.bin", static_cast<size_t>(pairs) * length);
    float* cost = managed<float>(pairs);
    warp<<<pairs, kThreads, 3 * (length + 2) * sizeof(float)>>>(a, b, length, band, cost);
    checked(cudaGetLastError(), "launch");
    checked(cudaDeviceSynchronize(), "warp");
    toFile("data/cost.bin", cost, pairs);
    return 0;
}
