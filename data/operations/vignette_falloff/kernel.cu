#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>
#include <vector>
#include <cuda_runtime.h>

template <typename T>
std::vector<T> from_file(const std::string& path, size_t count) {
    std::vector<T> v(count);
    std::ifstream file(path, std::ios::binary);
    if (!file.read(reinterpret_cast<char*>(v.data()), count * sizeof(T))) {
        std::cerr << "failed to read " << path << '\n';
        std::exit(1);
    }
    return v;
}

template <typename T>
void to_file(const std::string& path, const std::vector<T>& v) {
    std::ofstream file(path, std::ios::binary);
    file.write(reinterpret_cast<const char*>(v.data()), v.size() * sizeof(T));
}
//@given

constexpr int kChannels = 3;
constexpr int kHeight = 60;
constexpr int kWidth = 80;
constexpr int kPlane = kHeight * kWidth;

__global__ void devignette_planes(const float* __restrict__ image, const float* __restrict__ coefficients,
                                  float* __restrict__ corrected) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= kPlane) return;
    constexpr float cx = 0.5f * (kWidth - 1), cy = 0.5f * (kHeight - 1);
    constexpr float inverse = 1.0f / (cx * cx + cy * cy);
    const float dy = i / kWidth - cy, dx = i % kWidth - cx;
    const float t = fmaf(dx, dx, dy * dy) * inverse;
    // The distance is the same for all channels of a pixel.
    for (int c = 0; c < kChannels; ++c) {
        const float* k = coefficients + 3 * c;
        const float f = fmaf(t, fmaf(t, fmaf(t, k[2], k[1]), k[0]), 1.0f);
        const size_t at = (size_t)c * kPlane + i;
        corrected[at] = image[at] / fmaxf(f, 0.2f);
    }
}

int main() {
    const size_t imageSize = (size_t)kChannels * kHeight * kWidth;
    const size_t coefficientsSize = (size_t)kChannels * 3;
    auto image = from_file<float>("data/image.bin", imageSize);
    auto coefficients = from_file<float>("data/coefficients.bin", coefficientsSize);
    std::vector<float> corrected(imageSize);

    float *d_image, *d_coefficients, *d_corrected;
    cudaMalloc(&d_image, image.size() * sizeof(float));
    cudaMalloc(&d_coefficients, coefficients.size() * sizeof(float));
    cudaMalloc(&d_corrected, corrected.size() * sizeof(float));
    cudaMemcpy(d_image, image.data(), image.size() * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_coefficients, coefficients.data(), coefficients.size() * sizeof(float), cudaMemcpyHostToDevice);

    const int threads = 256;
    devignette_planes<<<(kPlane + threads - 1) / threads, threads>>>(d_image, d_coefficients, d_corrected);
    if (auto err = cudaDeviceSynchronize(); err != cudaSuccess) {
        std::cerr << cudaGetErrorString(err) << '\n';
        return 1;
    }

    cudaMemcpy(corrected.data(), d_corrected, corrected.size() * sizeof(float), cudaMemcpyDeviceToHost);
    to_file("data/corrected.bin", corrected);
    cudaFree(d_image);
    cudaFree(d_coefficients);
    cudaFree(d_corrected);
    return 0;
}
