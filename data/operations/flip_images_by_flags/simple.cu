#include <cuda_runtime.h>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>

template <typename T>
void load_bin(const std::string& filename, T* buffer, size_t count) {
    std::ifstream file(filename, std::ios::binary);
    if (!file.read(reinterpret_cast<char*>(buffer), count * sizeof(T))) {
        std::cerr << "cannot read " << filename << std::endl;
        exit(EXIT_FAILURE);
    }
}

template <typename T>
void store_bin(const std::string& filename, const T* buffer, size_t count) {
    std::ofstream f(filename, std::ios::binary);
    f.write(reinterpret_cast<const char*>(buffer), count * sizeof(T));
}
//@given

constexpr int BATCH = 6;
constexpr int HEIGHT = 30;
constexpr int WIDTH = 41;

__global__ void flip(const float* images, const int* flags, float* flipped) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y;
    int b = blockIdx.z;
    if (x >= WIDTH) return;
    int f = flags[b];
    int sx = (f & 1) ? WIDTH - 1 - x : x;
    int sy = (f & 2) ? HEIGHT - 1 - y : y;
    const float* src = images + ((b * HEIGHT + sy) * WIDTH + sx) * 3;
    float* dst = flipped + ((b * HEIGHT + y) * WIDTH + x) * 3;
    for (int c = 0; c < 3; c++) dst[c] = src[(f & 4) ? 2 - c : c];
}

int main() {
    size_t elements = (size_t)BATCH * HEIGHT * WIDTH * 3;
    float* h_images = new float[elements];
    int* h_flags = new int[BATCH];
    float* h_flipped = new float[elements];
    load_bin("data/images.bin", h_images, elements);
    load_bin("data/flags.bin", h_flags, BATCH);

    float *d_images, *d_flipped;
    int *d_flags;
    cudaMalloc(&d_images, elements * sizeof(float));
    cudaMalloc(&d_flags, BATCH * sizeof(int));
    cudaMalloc(&d_flipped, elements * sizeof(float));

    cudaMemcpy(d_images, h_images, elements * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_flags, h_flags, BATCH * sizeof(int), cudaMemcpyHostToDevice);

    dim3 grid((WIDTH + 127) / 128, HEIGHT, BATCH);
    flip<<<grid, 128>>>(d_images, d_flags, d_flipped);
    cudaError_t err = cudaDeviceSynchronize();
    if (err != cudaSuccess) {
        std::cerr << "CUDA error: " << cudaGetErrorString(err) << std::endl;
        return 1;
    }
    cudaMemcpy(h_flipped, d_flipped, elements * sizeof(float), cudaMemcpyDeviceToHost);
    store_bin("data/flipped.bin", h_flipped, elements);

    cudaFree(d_images);
    cudaFree(d_flags);
    cudaFree(d_flipped);
    delete[] h_images;
    delete[] h_flags;
    delete[] h_flipped;
    return 0;
}
