#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>
#include <cuda_runtime.h>

void read_floats(const std::string& path, float* data, size_t count) {
    std::ifstream file(path, std::ios::binary);
    if (!file) {
        std::cerr << "cannot open " << path << std::endl;
        exit(1);
    }
    file.read(reinterpret_cast<char*>(data), count * sizeof(float));
}

void write_floats(const std::string& path, const float* data, size_t count) {
    std::ofstream file(path, std::ios::binary);
    file.write(reinterpret_cast<const char*>(data), count * sizeof(float));
}
//@given

constexpr int kPixels = 800;
constexpr int kBands = 24;

__device__ float planck(float t, float w) {
    float w5 = w * w * w * w * w;
    return 1.191043e8f / (w5 * (expf(14387.77f / (w * t)) - 1.0f));
}

__global__ void planck_pixels(const float* temperature, const float* wavelength, float* radiance, float* total) {
    int p = blockIdx.x * blockDim.x + threadIdx.x;
    if (p >= kPixels) return;
    float t = temperature[p];
    float sum = 0.0f;
    float last = 0.0f;
    for (int j = 0; j < kBands; ++j) {
        float b = planck(t, wavelength[j]);
        radiance[(size_t)p * kBands + j] = b;
        if (j > 0) sum += 0.5f * (b + last) * (wavelength[j] - wavelength[j - 1]);
        last = b;
    }
    total[p] = sum;
}

int main() {
    float* h_temperature = new float[kPixels];
    float* h_wavelength = new float[kBands];
    float* h_radiance = new float[kPixels * kBands];
    float* h_total = new float[kPixels];
    read_floats("data/temperature.bin", h_temperature, kPixels);
    read_floats("data/wavelength.bin", h_wavelength, kBands);

    float *d_temperature, *d_wavelength, *d_radiance, *d_total;
    cudaMalloc(&d_temperature, kPixels * sizeof(float));
    cudaMalloc(&d_wavelength, kBands * sizeof(float));
    cudaMalloc(&d_radiance, kPixels * kBands * sizeof(float));
    cudaMalloc(&d_total, kPixels * sizeof(float));
    cudaMemcpy(d_temperature, h_temperature, kPixels * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_wavelength, h_wavelength, kBands * sizeof(float), cudaMemcpyHostToDevice);

    planck_pixels<<<(kPixels + 127) / 128, 128>>>(d_temperature, d_wavelength, d_radiance, d_total);

    cudaMemcpy(h_radiance, d_radiance, kPixels * kBands * sizeof(float), cudaMemcpyDeviceToHost);
    cudaMemcpy(h_total, d_total, kPixels * sizeof(float), cudaMemcpyDeviceToHost);
    write_floats("data/radiance.bin", h_radiance, kPixels * kBands);
    write_floats("data/total.bin", h_total, kPixels);

    cudaFree(d_temperature);
    cudaFree(d_wavelength);
    cudaFree(d_radiance);
    cudaFree(d_total);
    delete[] h_temperature;
    delete[] h_wavelength;
    delete[] h_radiance;
    delete[] h_total;
    return 0;
}
