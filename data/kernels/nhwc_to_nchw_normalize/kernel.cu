#include <cuda_runtime.h>

#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <vector>

constexpr int kMaxImages = 32, kMaxSide = 1024, kChannels = 3;

__constant__ float cMean[kChannels];
__constant__ float cInverseStd[kChannels];

__global__ void normalizePlanes(const uint8_t* __restrict__ pixels, float* __restrict__ planes, int pixelsPerImage) {
    int pixel = blockIdx.x * blockDim.x + threadIdx.x;
    if (pixel >= pixelsPerImage) return;
    int image = blockIdx.z;
    const uint8_t* source = pixels + (static_cast<size_t>(image) * pixelsPerImage + pixel) * kChannels;
    float* target = planes + static_cast<size_t>(image) * kChannels * pixelsPerImage + pixel;
#pragma unroll
    for (int c = 0; c < kChannels; ++c) {
        float value = source[c] * (1.0f / 255.0f);
        target[c * pixelsPerImage] = (value - cMean[c]) * cInverseStd[c];
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
    const std::vector<int> sizes = readFile<int>("data/sizes.bin", 3);
    const int images = sizes[0], height = sizes[1], width = sizes[2];
    if (images < 1 || images > kMaxImages || height < 1 || height > kMaxSide || width < 1 || width > kMaxSide) {
        fail("data/sizes.bin", "holds a size that is not allowed");
    }
    const int pixelsPerImage = height * width;
    const size_t count = static_cast<size_t>(images) * pixelsPerImage * kChannels;
    std::vector<uint8_t> pixels = readFile<uint8_t>("data/pixels.bin", count);
    std::vector<float> mean = readFile<float>("data/mean.bin", kChannels);
    std::vector<float> scale = readFile<float>("data/std.bin", kChannels);
    for (float& value : scale) {
        if (!(value > 0.0f)) fail("data/std.bin", "holds a value that is not positive");
        value = 1.0f / value;
    }
    TRY(cudaMemcpyToSymbol(cMean, mean.data(), sizeof(cMean)));
    TRY(cudaMemcpyToSymbol(cInverseStd, scale.data(), sizeof(cInverseStd)));

    uint8_t* dPixels = nullptr;
    float* dPlanes = nullptr;
    TRY(cudaMalloc(&dPixels, count));
    TRY(cudaMalloc(&dPlanes, count * sizeof(float)));
    TRY(cudaMemcpy(dPixels, pixels.data(), count, cudaMemcpyHostToDevice));

    const int threads = 256;
    dim3 grid((pixelsPerImage + threads - 1) / threads, 1, images);
    normalizePlanes<<<grid, threads>>>(dPixels, dPlanes, pixelsPerImage);
    TRY(cudaGetLastError());

    std::vector<float> planes(count);
    TRY(cudaMemcpy(planes.data(), dPlanes, count * sizeof(float), cudaMemcpyDeviceToHost));
    TRY(cudaFree(dPixels));
    TRY(cudaFree(dPlanes));

    std::ofstream out("data/planes.bin", std::ios::binary);
    out.write(reinterpret_cast<const char*>(planes.data()), count * sizeof(float));
    out.close();
    if (!out) fail("data/planes.bin", "cannot be written");
    return 0;
}
