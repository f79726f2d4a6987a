#include <cuda_runtime.h>

#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>

constexpr int kThreads = 128, kMatrices = 96;

__device__ int entry(int i, int j) { return j * (j + 1) / 2 + i; }

__global__ void chainOrders(const int* dims, int matrices, long long* cost, int* root) {
    extern __shared__ long long best[];
    __shared__ int d[kMatrices + 1];
    for (int k = threadIdx.x; k <= matrices; k += kThreads)
        d[k] = dims[static_cast<size_t>(blockIdx.x) * (matrices + 1) + k];
    for (int i = threadIdx.x; i < matrices; i += kThreads) best[entry(i, i)] = 0;
    __syncthreads();

    int split = -1;
    for (int span = 1; span < matrices; ++span) {
        for (int i = threadIdx.x; i + span < matrices; i += kThreads) {
            const int j = i + span;
            const long long outer = static_cast<long long>(d[i]) * d[j + 1];
            long long least = best[entry(i + 1, j)] + outer * d[i + 1];  // k = i
            split = i;
            for (int k = i + 1; k < j; ++k) {
                const long long here = best[entry(i, k)] + best[entry(k + 1, j)] + outer * d[k + 1];
                if (here < least) {
                    least = here;
                    split = k;
                }
            }
            best[entry(i, j)] = least;
        }
        __syncthreads();
    }
    if (threadIdx.x == 0) {  // it has computed the last cell, (0, matrices - 1)
        cost[blockIdx.x] = best[entry(0, matrices - 1)];
        root[blockIdx.x] = split;
    }
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
    const int* sizes = fromFile<int>("data/sizes.bin", 2);
    const int chains = sizes[0], matrices = sizes[1];
    if (chains < 1 || chains > 65535 || matrices < 1 || matrices > kMatrices) fail("data/sizes.bin: out of range");
    const size_t count = static_cast<size_t>(chains) * (matrices + 1);
    const int* dims = fromFile<int>("data/dims.bin", count);
    for (size_t i = 0; i < count; ++i) {
        if (dims[i] < 1 || dims[i] > 10000) fail("data/dims.bin: a dimension is not from 1 to 10000");
    }
    long long* cost = managed<long long>(chains);
    int* root = managed<int>(chains);
    const size_t bytes = matrices * (matrices + 1) / 2 * sizeof(long long);
    chainOrders<<<chains, kThreads, bytes>>>(dims, matrices, cost, root);
    checked(cudaGetLastError(), "launch");
    checked(cudaDeviceSynchronize(), "chainOrders");
    toFile("data/cost.bin", cost, chains);
    toFile("data/root.bin", root, chains);
    return 0;
}
