#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>
#include <vector>
#include <cuda_runtime.h>

template <typename T>
std::vector<T> load(const std::string& path, size_t count) {
    std::vector<T> values(count);
    std::ifstream in(path, std::ios::binary);
    in.read(reinterpret_cast<char*>(values.data()), count * sizeof(T));
    if (!in) {
        std::cerr << "could not read " << path << '\n';
        std::exit(1);
    }
    return values;
}

template <typename T>
void store(const std::string& path, const std::vector<T>& values) {
    std::ofstream out(path, std::ios::binary);
    out.write(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T));
}
//@given

constexpr int kPixels = 6000;
constexpr int kSide = 9;

__global__ void apply_cube(const float* rgb, const float* cube, float* mapped) {
    int p = blockIdx.x * blockDim.x + threadIdx.x;
    if (p >= kPixels) return;
    int node[3];
    float frac[3];
    for (int a = 0; a < 3; ++a) {
        float v = fminf(fmaxf(rgb[3 * p + a], 0.0f), 1.0f) * (kSide - 1);
        node[a] = min((int)v, kSide - 2);
        frac[a] = v - node[a];
    }
    float out[3] = {0.0f, 0.0f, 0.0f};
    for (int k = 0; k < 8; ++k) {
        int r = k >> 2, g = k >> 1 & 1, b = k & 1;
        float w = (r ? frac[0] : 1.0f - frac[0]) * (g ? frac[1] : 1.0f - frac[1]) * (b ? frac[2] : 1.0f - frac[2]);
        int cell = ((node[0] + r) * kSide + node[1] + g) * kSide + node[2] + b;
        for (int c = 0; c < 3; ++c) out[c] += w * cube[3 * cell + c];
    }
    for (int c = 0; c < 3; ++c) mapped[3 * p + c] = out[c];
}

int main() {
    constexpr size_t rgbSize = kPixels * 3;
    constexpr size_t cubeSize = kSide * kSide * kSide * 3;
    const auto h_rgb = load<float>("data/rgb.bin", rgbSize);
    const auto h_cube = load<float>("data/cube.bin", cubeSize);
    std::vector<float> h_mapped(rgbSize);

    float* rgb_d = nullptr;
    cudaMalloc(&rgb_d, rgbSize * sizeof(float));
    float* cube_d = nullptr;
    cudaMalloc(&cube_d, cubeSize * sizeof(float));
    float* mapped_d = nullptr;
    cudaMalloc(&mapped_d, rgbSize * sizeof(float));
    cudaMemcpy(rgb_d, h_rgb.data(), rgbSize * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(cube_d, h_cube.data(), cubeSize * sizeof(float), cudaMemcpyHostToDevice);

    apply_cube<<<(kPixels + 255) / 256, 256>>>(rgb_d, cube_d, mapped_d);
    if (const auto err = cudaDeviceSynchronize(); err != cudaSuccess) {
        std::cerr << cudaGetErrorString(err) << '\n';
        return 1;
    }
    cudaMemcpy(h_mapped.data(), mapped_d, rgbSize * sizeof(float), cudaMemcpyDeviceToHost);
    store("data/mapped.bin", h_mapped);
    cudaFree(rgb_d);
    cudaFree(cube_d);
    cudaFree(mapped_d);
    return 0;
}
