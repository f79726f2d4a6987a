#include <cooperative_groups.h>
#include <cuda_runtime.h>

#include <cstdlib>
#include <fstream>
#include <iostream>
#include <stdexcept>
#include <string>
#include <vector>

namespace cg = cooperative_groups;

constexpr int kMaxBatch = 262144;
constexpr int kMaxN = 32;
constexpr int kThreads = 128;

template <int W>
__global__ void multiplyBatch(const float* __restrict__ A, const float* __restrict__ B, float* __restrict__ C,
                              int batch, int n) {
    const auto tile = cg::tiled_partition<W>(cg::this_thread_block());
    const int product = blockIdx.x * (kThreads / W) + tile.meta_group_rank();
    if (product >= batch) return;  // the same for all lanes of the tile
    const int lane = tile.thread_rank();
    const size_t base = static_cast<size_t>(product) * n * n;

    float column[W];
#pragma unroll
    for (int k = 0; k < W; ++k) {
        column[k] = k < n && lane < n ? B[base + k * n + lane] : 0.0f;
    }
    for (int i = 0; i < n; ++i) {
        const float own = lane < n ? A[base + i * n + lane] : 0.0f;
        float sum = 0.0f;
#pragma unroll
        for (int k = 0; k < W; ++k) sum += tile.shfl(own, k) * column[k];
        if (lane < n) C[base + i * n + lane] = sum;
    }
}

static void check(cudaError_t status) {
    if (status != cudaSuccess) throw std::runtime_error(cudaGetErrorString(status));
}

template <int W>
static void launch(const float* A, const float* B, float* C, int batch, int n) {
    const int perBlock = kThreads / W;
    multiplyBatch<W><<<(batch + perBlock - 1) / perBlock, kThreads>>>(A, B, C, batch, n);
    check(cudaGetLastError());
}

template <typename T>
static std::vector<T> readFile(const std::string& path, size_t count) {
    std::ifstream in(path, std::ios::binary | std::ios::ate);
    if (!in || static_cast<size_t>(in.tellg()) != count * sizeof(T)) {
        throw std::runtime_error(path + ": expected " + std::to_string(count * sizeof(T)) + " bytes");
    }
    std::vector<T> values(count);
    in.seekg(0);
    if (!in.read(reinterpret_cast<char*>(values.data()), count * sizeof(T))) {
        throw std::runtime_error(path + ": read error");
    }
    return values;
}

struct DeviceFloats {
    explicit DeviceFloats(size_t count) : bytes(count * sizeof(float)) { check(cudaMalloc(&data, bytes)); }
    DeviceFloats(const DeviceFloats&) = delete;
    DeviceFloats& operator=(const DeviceFloats&) = delete;
    ~DeviceFloats() { cudaFree(data); }

    void load(const std::string& path) {
        const auto host = readFile<float>(path, bytes / sizeof(float));
        check(cudaMemcpy(data, host.data(), bytes, cudaMemcpyHostToDevice));
    }
    void store(const std::string& path) const {
        std::vector<char> host(bytes);
        check(cudaMemcpy(host.data(), data, bytes, cudaMemcpyDeviceToHost));
        std::ofstream out(path, std::ios::binary);
        out.write(host.data(), bytes);
        out.close();
        if (!out) throw std::runtime_error(path + ": write error");
    }

    float* data = nullptr;
    size_t bytes;
};

static void run() {
    const auto sizes = readFile<int>("data/sizes.bin", 2);
    const int batch = sizes[0], n = sizes[1];
    if (batch < 1 || batch > kMaxBatch || n < 1 || n > kMaxN) {
        throw std::runtime_error("data/sizes.bin: out of range");
    }
    const size_t count = static_cast<size_t>(batch) * n * n;
    DeviceFloats A(count), B(count), C(count);
    A.load("data/A.bin");
    B.load("data/B.bin");
    if (n <= 8) {
        launch<8>(A.data, B.data, C.data, batch, n);
    } else if (n <= 16) {
        launch<16>(A.data, B.data, C.data, batch, n);
    } else {
        launch<32>(A.data, B.data, C.data, batch, n);
    }
    C.store("data/C.bin");
}

int main() {
    try {
        run();
    } catch (const std::exception& error) {
        std::cerr << error.what() << '\n';
        return EXIT_FAILURE;
    }
    return EXIT_SUCCESS;
}
