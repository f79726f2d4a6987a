#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cuda_runtime.h>

#include <cstdint>
#include <fstream>
#include <iostream>
#include <stdexcept>
#include <string>
#include <vector>

namespace cg = cooperative_groups;

constexpr int kThreads = 256;
constexpr int kTile = 16;
constexpr float kRate = 0.125f, kStrength = 0.25f;

__global__ void proximalStep(const int* __restrict__ offsets, float* weights, const float* __restrict__ grad,
                             float* __restrict__ norms, int groups) {
    const auto tile = cg::tiled_partition<kTile>(cg::this_thread_block());
    const int k = blockIdx.x * (kThreads / kTile) + tile.meta_group_rank();
    if (k >= groups) return;
    const int begin = offsets[k], end = offsets[k + 1];
    float squares = 0.0f;
    for (int i = begin + tile.thread_rank(); i < end; i += kTile) {
        const float v = weights[i] - kRate * grad[i];
        weights[i] = v;
        squares = fmaf(v, v, squares);
    }
    const float length = sqrtf(cg::reduce(tile, squares, cg::plus<float>()));
    const float shorter = fmaxf(0.0f, length - kRate * kStrength * sqrtf(static_cast<float>(end - begin)));
    const float factor = length > 0.0f ? shorter / length : 0.0f;
    for (int i = begin + tile.thread_rank(); i < end; i += kTile) weights[i] *= factor;
    if (tile.thread_rank() == 0) norms[k] = shorter;
}

class Array {
public:
    Array(size_t count, size_t size) : bytes_(count * size) { check(cudaMalloc(&data_, bytes_)); }
    Array(const Array&) = delete;
    Array& operator=(const Array&) = delete;
    ~Array() { cudaFree(data_); }

    static void check(cudaError_t status) {
        if (status != cudaSuccess) throw std::runtime_error(cudaGetErrorString(status));
    }
    void set(const void* host) { check(cudaMemcpy(data_, host, bytes_, cudaMemcpyHostToDevice)); }
    void read(const std::string& path) {
        std::vector<char> host(bytes_);
        std::ifstream in(path, std::ios::binary);
        in.read(host.data(), bytes_);
        if (!in || in.peek() != EOF) throw std::runtime_error(path + ": wrong size");
        set(host.data());
    }
    void write(const std::string& path) const {
        std::vector<char> host(bytes_);
        check(cudaMemcpy(host.data(), data_, bytes_, cudaMemcpyDeviceToHost));
        std::ofstream out(path, std::ios::binary);
        out.write(host.data(), bytes_);
        out.close();
        if (!out) throw std::runtime_error(path + ": cannot be written");
    }
    template <typename T>
    T* as() const {
        return static_cast<T*>(data_);
    }

private:
    void* data_ = nullptr;
    size_t bytes_;
};

static std::vector<int32_t> readInts(const std::string& path, size_t count) {
    std::vector<int32_t> values(count);
    std::ifstream in(path, std::ios::binary);
    in.read(reinterpret_cast<char*>(values.data()), count * sizeof(int32_t));
    if (!in || in.peek() != EOF) throw std::runtime_error(path + ": wrong size");
    return values;
}

int main() {
    try {
        const auto sizes = readInts("data/sizes.bin", 2);
        const int groups = sizes[0], count = sizes[1];
        if (groups < 1 || groups > 1000000 || count < 1 || count > 16000000) {
            throw std::runtime_error("data/sizes.bin: out of range");
        }
        const auto offsets = readInts("data/offsets.bin", groups + 1);
        bool good = offsets.front() == 0 && offsets.back() == count;
        for (int k = 0; k < groups; ++k) good = good && offsets[k] <= offsets[k + 1];
        if (!good) throw std::runtime_error("data/offsets.bin: not ascending from 0 to count");

        Array dOffsets(offsets.size(), 4), weights(count, 4), grad(count, 4), norms(groups, 4);
        dOffsets.set(offsets.data());
        weights.read("data/weights.bin");
        grad.read("data/grad.bin");
        const int tiles = kThreads / kTile;
        proximalStep<<<(groups + tiles - 1) / tiles, kThreads>>>(dOffsets.as<int>(), weights.as<float>(),
                                                                 grad.as<float>(), norms.as<float>(), groups);
        Array::check(cudaGetLastError());
        weights.write("data/new_weights.bin");
        norms.write("data/norms.bin");
    } catch (const std::exception& error) {
        std::cerr << error.what() << std::endl;
        return 1;
    }
    return 0;
}
