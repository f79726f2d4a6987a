#include <cuda_runtime.h>

#include <cstdint>
#include <fstream>
#include <iostream>
#include <stdexcept>
#include <string>
#include <vector>

constexpr int kLimits[4] = {65536, 256, 1024, 1024};
constexpr int kTile = 32, kRows = 8, kThreads = 256;

__global__ void markCells(const int2* __restrict__ cells, int* __restrict__ owner, int pillars, int width) {
    const int p = blockIdx.x * kThreads + threadIdx.x;
    if (p < pillars) owner[cells[p].x * width + cells[p].y] = p;
}

__global__ void fillCanvas(const uint16_t* __restrict__ features, const int* __restrict__ owner,
                           uint16_t* __restrict__ canvas, int channels, int cellCount) {
    __shared__ uint16_t tile[kTile][kTile + 1];
    const int firstCell = blockIdx.x * kTile, firstChannel = blockIdx.y * kTile;
    for (int r = threadIdx.y; r < kTile; r += kRows) {
        const int cell = firstCell + r, channel = firstChannel + threadIdx.x;
        const int pillar = cell < cellCount ? owner[cell] : -1;
        const bool present = pillar >= 0 && channel < channels;
        tile[r][threadIdx.x] = present ? features[static_cast<size_t>(pillar) * channels + channel] : uint16_t{0};
    }
    __syncthreads();
    const int cell = firstCell + threadIdx.x;
    for (int r = threadIdx.y; r < kTile; r += kRows) {
        const int channel = firstChannel + r;
        if (cell < cellCount && channel < channels) {
            canvas[static_cast<size_t>(channel) * cellCount + cell] = tile[threadIdx.x][r];
        }
    }
}

void check(cudaError_t status, const char* what) {
    if (status != cudaSuccess) throw std::runtime_error(std::string(what) + ": " + cudaGetErrorString(status));
}

template <typename T>
std::vector<T> readFile(const char* path, size_t count) {
    std::vector<T> values(count);
    std::ifstream in(path, std::ios::binary | std::ios::ate);
    const bool fits = in && static_cast<size_t>(in.tellg()) == count * sizeof(T);
    if (!fits || !in.seekg(0).read(reinterpret_cast<char*>(values.data()), count * sizeof(T))) {
        throw std::runtime_error(std::string(path) + ": expected " + std::to_string(count) + " values");
    }
    return values;
}

void run() {
    const auto sizes = readFile<int>("data/sizes.bin", 4);
    for (int s = 0; s < 4; ++s) {
        if (sizes[s] < 1 || sizes[s] > kLimits[s]) throw std::runtime_error("data/sizes.bin: out of range");
    }
    const int pillars = sizes[0], channels = sizes[1], height = sizes[2], width = sizes[3];
    const auto features = readFile<uint16_t>("data/features.bin", static_cast<size_t>(pillars) * channels);
    const auto cells = readFile<int2>("data/cells.bin", pillars);
    for (const int2& cell : cells) {
        if (cell.x < 0 || cell.x >= height || cell.y < 0 || cell.y >= width) {
            throw std::runtime_error("data/cells.bin: a cell outside the canvas");
        }
    }
    const int cellCount = height * width;
    const size_t canvasBytes = static_cast<size_t>(channels) * cellCount * sizeof(uint16_t);
    uint16_t *dFeatures, *dCanvas;
    int2* dCells;
    int* dOwner;
    check(cudaMalloc(&dFeatures, features.size() * sizeof(uint16_t)), "allocate features");
    check(cudaMalloc(&dCells, cells.size() * sizeof(int2)), "allocate cells");
    check(cudaMalloc(&dOwner, cellCount * sizeof(int)), "allocate the map");
    check(cudaMalloc(&dCanvas, canvasBytes), "allocate the canvas");
    check(cudaMemcpy(dFeatures, features.data(), features.size() * sizeof(uint16_t), cudaMemcpyHostToDevice), "copy");
    check(cudaMemcpy(dCells, cells.data(), cells.size() * sizeof(int2), cudaMemcpyHostToDevice), "copy");
    check(cudaMemset(dOwner, 0xFF, cellCount * sizeof(int)), "clear the map");

    markCells<<<(pillars + kThreads - 1) / kThreads, kThreads>>>(dCells, dOwner, pillars, width);
    check(cudaGetLastError(), "markCells");
    const dim3 grid((cellCount + kTile - 1) / kTile, (channels + kTile - 1) / kTile);
    fillCanvas<<<grid, dim3(kTile, kRows)>>>(dFeatures, dOwner, dCanvas, channels, cellCount);
    check(cudaGetLastError(), "fillCanvas");

    std::vector<char> canvas(canvasBytes);
    check(cudaMemcpy(canvas.data(), dCanvas, canvasBytes, cudaMemcpyDeviceToHost), "copy back");
    for (void* buffer : {(void*)dFeatures, (void*)dCells, (void*)dOwner, (void*)dCanvas}) cudaFree(buffer);
    std::ofstream out("data/canvas.bin", std::ios::binary);
    out.write(canvas.data(), canvasBytes);
    out.close();
    if (!out) throw std::runtime_error("data/canvas.bin: cannot be written");
}

int main() {
    try {
        run();
    } catch (const std::exception& error) {
        std::cerr << error.what() << std::endl;
        return 1;
    }
}
