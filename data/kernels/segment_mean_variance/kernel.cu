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
constexpr int kTile = 32;
constexpr int kSegmentsPerBlock = kThreads / kTile;
constexpr int kMaxSegments = 1 << 20;
constexpr int kMaxValues = 1 << 26;

__global__ void segmentMoments(const int32_t* __restrict__ offsets, const float* __restrict__ values,
                               float* __restrict__ mean, float* __restrict__ variance, int segments) {
    const auto tile = cg::tiled_partition<kTile>(cg::this_thread_block());
    const int segment = blockIdx.x * kSegmentsPerBlock + tile.meta_group_rank();
    if (segment >= segments) return;

    const int begin = offsets[segment], end = offsets[segment + 1];
    const int lane = tile.thread_rank();
    float center = 0.0f, spread = 0.0f;
    if (begin < end) {  // the same for the whole tile
        const float first = values[begin];
        const float length = static_cast<float>(end - begin);
        float sum = 0.0f;
        for (int i = begin + lane; i < end; i += kTile) sum += values[i] - first;
        center = first + cg::reduce(tile, sum, cg::plus<float>()) / length;

        float squares = 0.0f;
        for (int i = begin + lane; i < end; i += kTile) {
            const float distance = values[i] - center;
            squares += distance * distance;
        }
        spread = cg::reduce(tile, squares, cg::plus<float>()) / length;
    }
    if (lane == 0) {
        mean[segment] = center;
        variance[segment] = spread;
    }
}

void check(cudaError_t status, const char* step) {
    if (status != cudaSuccess) throw std::runtime_error(std::string(step) + ": " + cudaGetErrorString(status));
}

template <typename T>
std::vector<T> readFile(const std::string& path, size_t count) {
    std::ifstream in(path, std::ios::binary | std::ios::ate);
    if (!in || static_cast<size_t>(in.tellg()) != count * sizeof(T)) {
        throw std::runtime_error(path + ": missing or of the wrong length");
    }
    std::vector<T> values(count);
    if (!in.seekg(0).read(reinterpret_cast<char*>(values.data()), count * sizeof(T))) {
        throw std::runtime_error(path + ": read failed");
    }
    return values;
}

// Copies a result to the host and writes it.
void save(const std::string& path, const float* device, size_t count) {
    std::vector<float> host(count);
    check(cudaMemcpy(host.data(), device, count * sizeof(float), cudaMemcpyDeviceToHost), "copy a result");
    std::ofstream out(path, std::ios::binary);
    out.write(reinterpret_cast<const char*>(host.data()), count * sizeof(float));
    out.close();
    if (!out) throw std::runtime_error(path + ": write failed");
}

void checkOffsets(const std::vector<int32_t>& offsets, int n) {
    bool valid = offsets.front() == 0 && offsets.back() == n;
    for (size_t s = 1; s < offsets.size(); ++s) valid = valid && offsets[s - 1] <= offsets[s];
    if (!valid) throw std::runtime_error("data/offsets.bin: not a non-decreasing sequence from 0 to n");
}

void run() {
    const auto sizes = readFile<int32_t>("data/sizes.bin", 2);
    const int segments = sizes[0], n = sizes[1];
    if (segments < 1 || segments > kMaxSegments || n < 1 || n > kMaxValues) {
        throw std::runtime_error("data/sizes.bin: out of range");
    }
    const auto offsets = readFile<int32_t>("data/offsets.bin", segments + 1);
    const auto values = readFile<float>("data/values.bin", n);
    checkOffsets(offsets, n);

    int32_t* dOffsets = nullptr;
    float *dValues = nullptr, *dMean = nullptr, *dVariance = nullptr;
    const size_t offsetBytes = offsets.size() * sizeof(int32_t), valueBytes = values.size() * sizeof(float);
    check(cudaMalloc(&dOffsets, offsetBytes), "allocate");
    check(cudaMalloc(&dValues, valueBytes), "allocate");
    check(cudaMalloc(&dMean, segments * sizeof(float)), "allocate");
    check(cudaMalloc(&dVariance, segments * sizeof(float)), "allocate");
    check(cudaMemcpy(dOffsets, offsets.data(), offsetBytes, cudaMemcpyHostToDevice), "copy the offsets");
    check(cudaMemcpy(dValues, values.data(), valueBytes, cudaMemcpyHostToDevice), "copy the values");

    const int blocks = (segments + kSegmentsPerBlock - 1) / kSegmentsPerBlock;
    segmentMoments<<<blocks, kThreads>>>(dOffsets, dValues, dMean, dVariance, segments);
    check(cudaGetLastError(), "launch");

    save("data/mean.bin", dMean, segments);
    save("data/variance.bin", dVariance, segments);
    check(cudaFree(dOffsets), "free");
    check(cudaFree(dValues), "free");
    check(cudaFree(dMean), "free");
    check(cudaFree(dVariance), "free");
}

int main() {
    try {
        run();
    } catch (const std::exception& error) {
        std::cerr << "error: " << error.what() << std::endl;
        return 1;
    }
    return 0;
}
