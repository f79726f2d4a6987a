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

// Level j of a row starts here; level 0 is the finest, and the smoothed signal follows the last level.
__device__ int offsetOf(int level, int half) { return 2 * half - 2 * (half >> level); }

__global__ void findLeaders(const float* details, float* leaders, int rows, int half, int levels) {
    const long long at = blockIdx.x * static_cast<long long>(blockDim.x) + threadIdx.x;
    if (at >= static_cast<long long>(rows) * 2 * half) return;
    const float* row = details + at / (2 * half) * (2 * half);
    const int index = static_cast<int>(at % (2 * half));
    float largest = 0.0f;
    if (index < 2 * half - (half >> (levels - 1))) {  // not in the smoothed signal
        int level = 0;
        while (level + 1 < levels && index >= offsetOf(level + 1, half)) ++level;
        const int k = index - offsetOf(level, half);
        for (int finer = 0; finer <= level; ++finer) {
            const int scale = 1 << (level - finer);
            const int last = min((k + 2) * scale, half >> finer);
            for (int m = max((k - 1) * scale, 0); m < last; ++m) {
                largest = fmaxf(largest, fabsf(row[offsetOf(finer, half) + m]));
            }
        }
    }
    leaders[at] = largest;
}

__global__ void meanLogarithms(const float* leaders, float* logMean, int rows, int half, int levels) {
    const int at = blockIdx.x * blockDim.x + threadIdx.x;
    if (at >= rows * levels) return;
    const int level = at % levels, count = half >> level;
    const float* part = leaders + static_cast<size_t>(at / levels) * 2 * half + offsetOf(level, half);
    double sum = 0.0;
    for (int k = 0; k < count; ++k) sum += log2(static_cast<double>(fmaxf(part[k], kFloor)));
    logMean[at] = static_cast<float>(sum / count);
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
    const unsigned blocks = static_cast<unsigned>((count + kThreads - 1) / kThreads);
    findLeaders<<<blocks, kThreads>>>(dDetails, dLeaders, rows, half, levels);
    check(cudaGetLastError(), "findLeaders");
    const int meanBlocks = (rows * levels + kThreads - 1) / kThreads;
    meanLogarithms<<<meanBlocks, kThreads>>>(dLeaders, dLogMean, rows, half, levels);
    check(cudaGetLastError(), "meanLogarithms");
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
