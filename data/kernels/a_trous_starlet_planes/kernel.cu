#include <cuda_runtime.h>

#include <fstream>
#include <iostream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

constexpr int kMaxSide = 4096, kMaxLevels = 6;
constexpr int kBlockX = 32, kBlockY = 8;

// Vertical also writes before - smoothed, the plane of this level.
template <bool Vertical>
__global__ void smooth(const float* __restrict__ source, float* __restrict__ target, const float* __restrict__ before,
                       float* __restrict__ plane, int height, int width, int step) {
    const int x = blockIdx.x * kBlockX + threadIdx.x, y = blockIdx.y * kBlockY + threadIdx.y;
    if (x >= width || y >= height) return;
    constexpr float weights[5] = {0.0625f, 0.25f, 0.375f, 0.25f, 0.0625f};
    float sum = 0.0f;
#pragma unroll
    for (int k = 0; k < 5; ++k) {
        const int offset = (k - 2) * step;
        const int column = Vertical ? x : min(max(x + offset, 0), width - 1);
        const int row = Vertical ? min(max(y + offset, 0), height - 1) : y;
        sum += weights[k] * source[row * width + column];
    }
    const int pixel = y * width + x;
    target[pixel] = sum;
    if (Vertical) plane[pixel] = before[pixel] - sum;
}

void check(cudaError_t status, const char* step) {
    if (status != cudaSuccess) throw std::runtime_error(std::string(step) + ": " + cudaGetErrorString(status));
}

void readFile(const std::string& path, void* data, size_t bytes) {
    std::ifstream in(path, std::ios::binary | std::ios::ate);
    if (!in || static_cast<size_t>(in.tellg()) != bytes) throw std::runtime_error(path + ": wrong length");
    if (!in.seekg(0).read(static_cast<char*>(data), bytes)) throw std::runtime_error(path + ": cannot be read");
}

void run() {
    int sizes[3];
    readFile("data/sizes.bin", sizes, sizeof sizes);
    const int height = sizes[0], width = sizes[1], levels = sizes[2];
    if (height < 1 || height > kMaxSide || width < 1 || width > kMaxSide || levels < 1 || levels > kMaxLevels) {
        throw std::runtime_error("data/sizes.bin: out of range");
    }
    const size_t pixels = static_cast<size_t>(height) * width, bytes = pixels * sizeof(float);
    std::vector<float> image(pixels), planes(pixels * (levels + 1));
    readFile("data/image.bin", image.data(), bytes);

    float *current, *next, *rows, *dPlanes;
    check(cudaMalloc(&current, bytes), "allocate");
    check(cudaMalloc(&next, bytes), "allocate");
    check(cudaMalloc(&rows, bytes), "allocate");
    check(cudaMalloc(&dPlanes, planes.size() * sizeof(float)), "allocate");
    check(cudaMemcpy(current, image.data(), bytes, cudaMemcpyHostToDevice), "upload");
    const dim3 block(kBlockX, kBlockY);
    const dim3 grid((width + kBlockX - 1) / kBlockX, (height + kBlockY - 1) / kBlockY);
    for (int level = 0; level < levels; ++level) {
        smooth<false><<<grid, block>>>(current, rows, nullptr, nullptr, height, width, 1 << level);
        check(cudaGetLastError(), "rows");
        smooth<true><<<grid, block>>>(rows, next, current, dPlanes + level * pixels, height, width, 1 << level);
        check(cudaGetLastError(), "columns");
        std::swap(current, next);
    }
    check(cudaMemcpy(dPlanes + levels * pixels, current, bytes, cudaMemcpyDeviceToDevice), "copy the rest");
    check(cudaMemcpy(planes.data(), dPlanes, planes.size() * sizeof(float), cudaMemcpyDeviceToHost), "download");
    for (float* buffer : {current, next, rows, dPlanes}) check(cudaFree(buffer), "free");

    std::ofstream out("data/planes.bin", std::ios::binary);
    out.write(reinterpret_cast<const char*>(planes.data()), planes.size() * sizeof(float));
    out.close();
    if (!out) throw std::runtime_error("data/planes.bin: cannot be written");
}

int main() {
    try {
        run();
    } catch (const std::exception& error) {
        std::cerr << error.what() << std::endl;
        return 1;
    }
    return 0;
}
