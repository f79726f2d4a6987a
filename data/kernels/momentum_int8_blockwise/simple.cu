#include <cuda_runtime.h>

#include <cstdint>
#include <fstream>
#include <iostream>
#include <stdexcept>
#include <vector>

// One thread serves a whole block of 256 values and computes the momenta twice.
__global__ void momentumStep(float* weights, const float* grad, int8_t* codes, float* scales, int blocks) {
    int b = blockIdx.x * blockDim.x + threadIdx.x;
    if (b >= blocks) return;
    float scale = scales[b], largest = 0.0f;
    for (int i = 256 * b; i < 256 * b + 256; ++i) {
        float m = 0.9f * (scale * codes[i] / 127.0f) + grad[i];
        largest = fmaxf(largest, fabsf(m));
    }
    for (int i = 256 * b; i < 256 * b + 256; ++i) {
        float m = 0.9f * (scale * codes[i] / 127.0f) + grad[i];
        weights[i] -= 0.01f * m;
        codes[i] = largest > 0.0f ? (int8_t)rintf(127.0f * m / largest) : 0;
    }
    scales[b] = largest;
}

void check(cudaError_t status) {
    if (status != cudaSuccess) throw std::runtime_error(cudaGetErrorString(status));
}

template <typename T>
std::vector<T> readFile(const char* path, size_t count) {
    std::vector<T> values(count);
    std::ifstream in(path, std::ios::binary);
    if (!in.read((char*)values.data(), count * sizeof(T)) || in.peek() != EOF) throw std::runtime_error(path);
    return values;
}

template <typename T>
T* upload(const std::vector<T>& values) {
    T* device;
    check(cudaMalloc(&device, values.size() * sizeof(T)));
    check(cudaMemcpy(device, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice));
    return device;
}

template <typename T>
void download(const char* path, const T* device, size_t count) {
    std::vector<T> values(count);
    check(cudaMemcpy(values.data(), device, count * sizeof(T), cudaMemcpyDeviceToHost));
    std::ofstream out(path, std::ios::binary);
    out.write((const char*)values.data(), count * sizeof(T));
    out.close();
    if (!out) throw std::runtime_error(path);
}

int main() {
    try {
        int blocks = readFile<int>("data/sizes.bin", 1)[0];
        if (blocks < 1 || blocks > 65535) throw std::runtime_error("sizes out of range");
        size_t count = 256 * (size_t)blocks;
        float* weights = upload(readFile<float>("data/weights.bin", count));
        float* grad = upload(readFile<float>("data/grad.bin", count));
        int8_t* codes = upload(readFile<int8_t>("data/codes.bin", count));
        float* scales = upload(readFile<float>("data/scales.bin", blocks));
        momentumStep<<<(blocks + 63) / 64, 64>>>(weights, grad, codes, scales, blocks);
        check(cudaGetLastError());
        download("data/new_weights.bin", weights, count);
        download("data/new_codes.bin", codes, count);
        download("data/new_scales.bin", scales, blocks);
    } catch (const std::exception& error) {
        std::cerr << error.what() << "\n";
        return 1;
    }
}
