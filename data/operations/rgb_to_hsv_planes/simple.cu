#include <fstream>
#include <iostream>
#include <cuda_runtime.h>

const int kHeight = 80;
const int kWidth = 100;

__global__ void rgb_to_hsv(const float* rgb, float* hue, float* sat, float* val, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float r = rgb[3 * i], g = rgb[3 * i + 1], b = rgb[3 * i + 2];
    float hi = fmaxf(r, fmaxf(g, b));
    float lo = fminf(r, fminf(g, b));
    float d = hi - lo;
    float h = 0.0f;
    if (d > 0.0f) {
        if (hi == r) {
            h = 60.0f * (g - b) / d;
            if (h < 0.0f) h += 360.0f;
        } else if (hi == g) {
            h = 60.0f * (b - r) / d + 120.0f;
        } else {
            h = 60.0f * (r - g) / d + 240.0f;
        }
    }
    hue[i] = h;
    sat[i] = hi > 0.0f ? d / hi : 0.0f;
    val[i] = hi;
}

int main() {
    const size_t rgbCount = kHeight * kWidth * 3;
    const size_t hueCount = kHeight * kWidth;
    float* rgb = nullptr;
    cudaMallocManaged(&rgb, rgbCount * sizeof(float));
    float* hue = nullptr;
    cudaMallocManaged(&hue, hueCount * sizeof(float));
    float* saturation = nullptr;
    cudaMallocManaged(&saturation, hueCount * sizeof(float));
    float* value = nullptr;
    cudaMallocManaged(&value, hueCount * sizeof(float));

    std::ifstream file("data/rgb.bin", std::ios::binary);
    file.read((char*)rgb, rgbCount * sizeof(float));
    if (!file) {
        std::cerr << "missing or short: data/rgb.bin\n";
        return 1;
    }

    const int pixels = kHeight * kWidth;
    rgb_to_hsv<<<(pixels + 255) / 256, 256>>>(rgb, hue, saturation, value, pixels);
    cudaDeviceSynchronize();

    std::ofstream hue_file("data/hue.bin", std::ios::binary);
    hue_file.write((char*)hue, hueCount * sizeof(float));

    std::ofstream saturation_file("data/saturation.bin", std::ios::binary);
    saturation_file.write((char*)saturation, hueCount * sizeof(float));

    std::ofstream value_file("data/value.bin", std::ios::binary);
    value_file.write((char*)value, hueCount * sizeof(float));

    cudaFree(rgb);
    cudaFree(hue);
    cudaFree(saturation);
    cudaFree(value);
    return 0;
}
