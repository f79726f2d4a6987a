#include <cooperative_groups.h>
#include <cuda_runtime.h>

#include <climits>
#include <cmath>
#include <fstream>
#include <iostream>
#include <stdexcept>
#include <string>
#include <vector>

namespace cg = cooperative_groups;

constexpr int kMaxRows = 65536;
constexpr int kMaxCols = 4096;
constexpr int kThreads = 128;

struct Best {
    float value;
    int index;
};

__device__ bool better(const Best& a, const Best& b) {
    return a.value > b.value || (a.value == b.value && a.index < b.index);
}

template <int kTile>
__global__ void rowArgmax(const float* __restrict__ scores, int* bestIndex, float* bestValue, int rows, int cols) {
    cg::thread_block block = cg::this_thread_block();
    cg::thread_block_tile<kTile> tile = cg::tiled_partition<kTile>(block);
    int row = blockIdx.x * (blockDim.x / kTile) + tile.meta_group_rank();
    if (row >= rows) {
        return;  // the whole tile leaves, so the shuffles below stay complete
    }

    const float* line = scores + static_cast<size_t>(row) * cols;
    Best best{-INFINITY, INT_MAX};
    for (int c = tile.thread_rank(); c < cols; c += kTile) {
        Best candidate{line[c], c};
        if (better(candidate, best)) {
            best = candidate;
        }
    }
    for (int distance = kTile / 2; distance > 0; distance /= 2) {
        Best other{tile.shfl_xor(best.value, distance), tile.shfl_xor(best.index, distance)};
        if (better(other, best)) {
            best = other;
        }
    }
    if (tile.thread_rank() == 0) {
        bestIndex[row] = best.index;
        bestValue[row] = best.value;
    }
}

void check(cudaError_t status) {
    if (status != cudaSuccess) {
        throw std::runtime_error(cudaGetErrorString(status));
    }
}

template <typename T>
void writeFile(const std::string& path, const std::vector<T>& values) {
    std::ofstream file(path, std::ios::binary);
    file.write(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T));
    file.close();
    if (!file) {
        throw std::runtime_error("cannot write " + path);
    }
}

template <typename T>
std::vector<T> readFile(const std::string& path, size_t count) {
    std::vector<T> values(count);
    std::ifstream file(path, std::ios::binary | std::ios::ate);
    if (!file || static_cast<size_t>(file.tellg()) != count * sizeof(T)) {
        throw std::runtime_error(path + ": missing or of the wrong size");
    }
    file.seekg(0);
    if (!file.read(reinterpret_cast<char*>(values.data()), count * sizeof(T))) {
        throw std::runtime_error(path + ": read failed");
    }
    return values;
}

void run() {
    const std::vector<int> sizes = readFile<int>("data/sizes.bin", 2);
    const int rows = sizes[0], cols = sizes[1];
    if (rows < 1 || rows > kMaxRows || cols < 1 || cols > kMaxCols) {
        throw std::runtime_error("data/sizes.bin: rows or cols out of range");
    }
    const size_t count = static_cast<size_t>(rows) * cols;
    const std::vector<float> scores = readFile<float>("data/scores.bin", count);

    float *dScores = nullptr, *dValue = nullptr;
    int* dIndex = nullptr;
    check(cudaMalloc(&dScores, count * sizeof(float)));
    check(cudaMalloc(&dIndex, rows * sizeof(int)));
    check(cudaMalloc(&dValue, rows * sizeof(float)));
    check(cudaMemcpy(dScores, scores.data(), count * sizeof(float), cudaMemcpyHostToDevice));

    constexpr int kTile = 32;
    constexpr int rowsPerBlock = kThreads / kTile;
    rowArgmax<kTile><<<(rows + rowsPerBlock - 1) / rowsPerBlock, kThreads>>>(dScores, dIndex, dValue, rows, cols);
    check(cudaGetLastError());

    std::vector<int> index(rows);
    std::vector<float> value(rows);
    check(cudaMemcpy(index.data(), dIndex, rows * sizeof(int), cudaMemcpyDeviceToHost));
    check(cudaMemcpy(value.data(), dValue, rows * sizeof(float), cudaMemcpyDeviceToHost));
    check(cudaFree(dScores));
    check(cudaFree(dIndex));
    check(cudaFree(dValue));
    writeFile("data/best_index.bin", index);
    writeFile("data/best_value.bin", value);
}

int main() {
    try {
        run();
    } catch (const std::exception& error) {
        std::cerr << "error: " << error.what() << '\n';
        return 1;
    }
    return 0;
}
