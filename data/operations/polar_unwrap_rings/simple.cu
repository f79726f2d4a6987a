#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>
#include <vector>
#include <cuda_runtime.h>

template <typename T>
std::vector<T> load(const std::string& path, size_t count) {
    std::vector<T> v(count);
    std::ifstream in(path, std::ios::binary);
    if (!in.read((char*)v.data(), count * sizeof(T))) {
        std::cerr << "bad input file: " << path << std::endl;
        std::exit(EXIT_FAILURE);
    }
    return v;
}

template <typename T>
void store(const std::string& path, const std::vector<T>& v) {
    std::ofstream out(path, std::ios::binary);
    out.write((const char*)v.data(), v.size() * sizeof(T));
}
//@given

constexpr int kSide = 101;
constexpr int kNRadii = 40;
constexpr int kNAngles = 180;

__global__ void unwrap(const float* image, float* polar) {
    int k = blockIdx.x * blockDim.x + threadIdx.x;
    int r = blockIdx.y;
    if (k >= kNAngles) return;
    float t = 6.28318531f * k / kNAngles;
    float c = 0.5f * (kSide - 1);
    float x = c + r * cosf(t), y = c + r * sinf(t);
    int x0 = (int)x, y0 = (int)y;
    float fx = x - x0, fy = y - y0;
    const float* p = image + y0 * kSide + x0;
    float top = (1.0f - fx) * p[0] + fx * p[1];
    float bottom = (1.0f - fx) * p[kSide] + fx * p[kSide + 1];
    polar[r * kNAngles + k] = (1.0f - fy) * top + fy * bottom;
}

__global__ void peaks(const float* polar, float* ring_peak) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= kNRadii) return;
    float best = polar[r * kNAngles];
    for (int k = 1; k < kNAngles; ++k) best = fmaxf(best, polar[r * kNAngles + k]);
    ring_peak[r] = best;
}

int main() {
    constexpr int imageCount = kSide * kSide;
    constexpr int polarCount = kNRadii * kNAngles;
    const auto host_image = load<float>("data/image.bin", imageCount);
    std::vector<float> host_polar(polarCount);
    std::vector<float> host_ring_peak(kNRadii);

    float* dev_image;
    cudaMalloc(&dev_image, imageCount * sizeof(float));
    float* dev_polar;
    cudaMalloc(&dev_polar, polarCount * sizeof(float));
    float* dev_ring_peak;
    cudaMalloc(&dev_ring_peak, kNRadii * sizeof(float));
    cudaMemcpy(dev_image, host_image.data(), imageCount * sizeof(float), cudaMemcpyHostToDevice);

    dim3 grid((kNAngles + 127) / 128, kNRadii);
    unwrap<<<grid, 128>>>(dev_image, dev_polar);
    peaks<<<(kNRadii + 63) / 64, 64>>>(dev_polar, dev_ring_peak);

    cudaMemcpy(host_polar.data(), dev_polar, polarCount * sizeof(float), cudaMemcpyDeviceToHost);
    cudaMemcpy(host_ring_peak.data(), dev_ring_peak, kNRadii * sizeof(float), cudaMemcpyDeviceToHost);
    store("data/polar.bin", host_polar);
    store("data/ring_peak.bin", host_ring_peak);
    cudaFree(dev_image);
    cudaFree(dev_polar);
    cudaFree(dev_ring_peak);
    return 0;
}
