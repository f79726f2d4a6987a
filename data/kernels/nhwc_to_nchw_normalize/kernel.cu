#include <cuda_runtime.h>

#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <vector>

constexpr int kImages = 4, kHeight = 123, kWidth = 157, kChannels = 3;
constexpr int kPixels = kHeight * kWidth;

__constant__ float cMean[kChannels];
__constant__ float cInverseStd[kChannels];

__global__ void normalizePlanes(const uint8_t* __restrict__ images, float* __restrict__ planes) {
    int pixel = blockIdx.x * blockDim.x + threadIdx.x;
    if (pixel >= kPixels) return;
    int image = blockIdx.z;
    const uint8_t* source = images + (static_cast<size_t>(image) * kPixels + pixel) * kChannels;
    float* target = planes + static_cast<size_t>(image) * kChannels * kPixels + pixel;
#pragma unroll
    for (int c = 0; c < kChannels; ++c) {
        float value = source[c] * (1.0f / 255.0f);
        target[c * kPixels] = (value - cMean[c]) * cInverseStd[c];
    }
}

[[noreturn]] void fail(const char* what, const char* why) {
    std::cerr << what << ": " << why << std::endl;
    std::exit(1);
}

#define TRY(call) \
    if (cudaError_t code = (call); code != cudaSuccess) fail(#call, cudaGetErrorString(code))

template <typename T>
std::vector<T> readFile(const char* path, size_t count) {
    std::ifstream file(path, std::ios::binary | std::ios::ate);
    if (!file) fail(path, "cannot be opened");
    if (static_cast<size_t>(file.tellg()) != count * sizeof(T)) fail(path, "has the wrong size");
    std::vector<T> values(count);
    file.seekg(0).read(reinterpret_cast<char*>(values.data()), count * sizeof(T));
    if (!file) fail(path, "cannot be read");
    return values;
}

int main() {
    const size_t count = static_cast<size_t>(kImages) * kPixels * kChannels;
    std::vector<uint8_t> images = readFile<uint8_t>("data/images.bin", count);
    std::vector<float> mean = readFile<float>("data/mean.bin", kChannels);
    std::vector<float> scale = readFile<float>("data/std.bin", kChannels);
    for (float& value : scale) {
        if (!(value > 0.0f)) fail("data/std.bin", "holds a value that is not positive");
        value = 1.0f / value;
    }
    TRY(cudaMemcpyToSymbol(cMean, mean.data(), sizeof(cMean)));
    TRY(cudaMemcpyToSymbol(cInverseStd, scale.data(), sizeof(cInverseStd)));

    uint8_t* dImages = nullptr;
    float* dPlanes = nullptr;
    TRY(cudaMalloc(&dImages, count));
    TRY(cudaMalloc(&dPlanes, count * sizeof(float)));
    TRY(cudaMemcpy(dImages, images.data(), count, cudaMemcpyHostToDevice));

    const int threads = 256;
    dim3 grid((kPixels + threads - 1) / threads, 1, kImages);
    normalizePlanes<<<grid, threads>>>(dImages, dPlanes);
    TRY(cudaGetLastError());

    std::vector<float> planes(count);
    TRY(cudaMemcpy(planes.data(), dPlanes, count * sizeof(float), cudaMemcpyDeviceToHost));
    TRY(cudaFree(dImages));
    TRY(cudaFree(dPlanes));

    std::ofstream out("data/planes.bin", std::ios::binary);
    out.write(reinterpret_cast<const char*>(planes.data()), count * sizeof(float));
    out.close();
    if (!out) fail("data/planes.bin", "cannot be written");
    return 0;
}
