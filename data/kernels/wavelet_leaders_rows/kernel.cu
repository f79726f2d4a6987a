#include <cuda_runtime.h>

#include <filesystem>
#include <fstream>
#include <iostream>
#include <stdexcept>
#include <string>
#include <vector>

namespace fs = std::filesystem;

constexpr int kThreads = 128, kMaxRows = 100000, kMaxHalf = 5120, kMaxLevels = 8;
constexpr float kFloor = 0x1p-100f;

__global__ void __launch_bounds__(kThreads) findLeaders(const float* __restrict__ details, float* __restrict__ leaders,
                                                        float* __restrict__ logMean, int half, int levels) {
    __shared__ float evenLevels[kMaxHalf], oddLevels[kMaxHalf / 2];
    __shared__ double warpSums[kThreads / 32];
    const float* row = details + blockIdx.x * static_cast<size_t>(2 * half);
    float* out = leaders + blockIdx.x * static_cast<size_t>(2 * half);

    for (int level = 0; level < levels; ++level) {
        const int count = half >> level;
        float* here = level % 2 ? oddLevels : evenLevels;
        const float* below = level % 2 ? evenLevels : oddLevels;
        for (int k = threadIdx.x; k < count; k += kThreads) {
            float largest = fabsf(row[k]);
            if (level > 0) largest = fmaxf(largest, fmaxf(below[2 * k], below[2 * k + 1]));
            here[k] = largest;
        }
        __syncthreads();

        double sum = 0.0;
        for (int k = threadIdx.x; k < count; k += kThreads) {
            float leader = here[k];
            if (k > 0) leader = fmaxf(leader, here[k - 1]);
            if (k + 1 < count) leader = fmaxf(leader, here[k + 1]);
            out[k] = leader;
            sum += log2(static_cast<double>(fmaxf(leader, kFloor)));
        }
        for (int step = 16; step > 0; step /= 2) sum += __shfl_down_sync(0xffffffffu, sum, step);
        if (threadIdx.x % 32 == 0) warpSums[threadIdx.x / 32] = sum;
        __syncthreads();
        if (threadIdx.x == 0) {  // the next barrier is before warpSums is written again
            double total = 0.0;
            for (double part : warpSums) total += part;
            logMean[static_cast<size_t>(blockIdx.x) * levels + level] = static_cast<float>(total / count);
        }
        row += count;
        out += count;
    }
    for (int k = threadIdx.x; k < half >> (levels - 1); k += kThreads) out[k] = 0.0f;
}

void check(cudaError_t error, const std::string& step) {
    if (error != cudaSuccess) throw std::runtime_error(step + ": " + cudaGetErrorString(error));
}

template <typename T>
std::vector<T> read(const fs::path& path, size_t count) {
    if (!fs::exists(path) || fs::file_size(path) != count * sizeof(T)) {
        throw std::runtime_error(path.string() + ": not a file of the expected length");
    }
    std::vector<T> values(count);
    std::ifstream file(path, std::ios::binary);
    if (!file.read(reinterpret_cast<char*>(values.data()), count * sizeof(T))) throw std::runtime_error(path.string());
    return values;
}

void write(const fs::path& path, const float* device, size_t count) {
    std::vector<float> values(count);
    check(cudaMemcpy(values.data(), device, count * sizeof(float), cudaMemcpyDeviceToHost), path.string());
    std::ofstream file(path, std::ios::binary);
    file.write(reinterpret_cast<const char*>(values.data()), count * sizeof(float));
    file.close();
    if (!file) throw std::runtime_error(path.string() + ": cannot be written");
}

int main() try {
    const auto sizes = read<int>("data/sizes.bin", 3);
    const int rows = sizes[0], half = sizes[1], levels = sizes[2];
    if (rows < 1 || rows > kMaxRows || half < 1 || half > kMaxHalf || levels < 1 || levels > kMaxLevels) {
        throw std::runtime_error("data/sizes.bin: out of range");
    }
    if (half % (1 << (levels - 1))) throw std::runtime_error("data/sizes.bin: half cannot be halved so often");
    const size_t count = static_cast<size_t>(rows) * 2 * half;
    const auto details = read<float>("data/details.bin", count);
    float *dDetails = nullptr, *dLeaders = nullptr, *dLogMean = nullptr;
    check(cudaMalloc(&dDetails, count * sizeof(float)), "details");
    check(cudaMalloc(&dLeaders, count * sizeof(float)), "leaders");
    check(cudaMalloc(&dLogMean, static_cast<size_t>(rows) * levels * sizeof(float)), "log_mean");
    check(cudaMemcpy(dDetails, details.data(), count * sizeof(float), cudaMemcpyHostToDevice), "upload");
    findLeaders<<<rows, kThreads>>>(dDetails, dLeaders, dLogMean, half, levels);
    check(cudaGetLastError(), "findLeaders");
    write("data/leaders.bin", dLeaders, count);
    write("data/log_mean.bin", dLogMean, static_cast<size_t>(rows) * levels);
    check(cudaFree(dDetails), "free");
    check(cudaFree(dLeaders), "free");
    check(cudaFree(dLogMean), "free");
    return 0;
} catch (const std::exception& error) {
    std::cerr << error.what() << std::endl;
    return 1;
}
