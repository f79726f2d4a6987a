#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>
#include <cuda_runtime.h>

template <typename T>
void readData(const std::string& path, T* data, size_t count) {
    std::ifstream in(path, std::ios::binary);
    in.read(reinterpret_cast<char*>(data), count * sizeof(T));
    if (!in) {
        std::cerr << "cannot read " << path << "\n";
        std::exit(1);
    }
}

template <typename T>
void writeData(const std::string& path, const T* data, size_t count) {
    std::ofstream out(path, std::ios::binary);
    out.write(reinterpret_cast<const char*>(data), count * sizeof(T));
}
//@given

const int HEIGHT = 40;
const int WIDTH = 100;

__global__ void posterize(const uint8_t* picture, const int* levels, uint8_t* poster, int* code, int pixels) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= pixels) return;
    int combined = 0;
    for (int c = 2; c >= 0; --c) {
        int steps = levels[c] - 1;
        int q = (2 * picture[3 * i + c] * steps + 255) / 510;
        poster[3 * i + c] = (uint8_t)((510 * q + steps) / (2 * steps));
        combined = combined * levels[c] + q;
    }
    code[i] = combined;
}

int main() {
    const size_t num_picture = (size_t)HEIGHT * WIDTH * 3;
    const size_t num_code = HEIGHT * WIDTH;
    uint8_t* h_picture = new uint8_t[num_picture];
    int* h_levels = new int[3];
    uint8_t* h_poster = new uint8_t[num_picture];
    int* h_code = new int[num_code];
    readData("data/picture.bin", h_picture, num_picture);
    readData("data/levels.bin", h_levels, 3);

    uint8_t* d_picture;
    cudaMalloc(&d_picture, num_picture * sizeof(uint8_t));
    int* d_levels;
    cudaMalloc(&d_levels, 3 * sizeof(int));
    uint8_t* d_poster;
    cudaMalloc(&d_poster, num_picture * sizeof(uint8_t));
    int* d_code;
    cudaMalloc(&d_code, num_code * sizeof(int));
    cudaMemcpy(d_picture, h_picture, num_picture * sizeof(uint8_t), cudaMemcpyHostToDevice);
    cudaMemcpy(d_levels, h_levels, 3 * sizeof(int), cudaMemcpyHostToDevice);

    int threads = 256;
    int pixels = HEIGHT * WIDTH;
    posterize<<<(pixels + threads - 1) / threads, threads>>>(d_picture, d_levels, d_poster, d_code, pixels);
    if (cudaDeviceSynchronize() != cudaSuccess) {
        std::cerr << cudaGetErrorString(cudaGetLastError()) << "\n";
        return 1;
    }

    cudaMemcpy(h_poster, d_poster, num_picture * sizeof(uint8_t), cudaMemcpyDeviceToHost);
    writeData("data/poster.bin", h_poster, num_picture);
    cudaMemcpy(h_code, d_code, num_code * sizeof(int), cudaMemcpyDeviceToHost);
    writeData("data/code.bin", h_code, num_code);

    delete[] h_picture;
    delete[] h_levels;
    delete[] h_poster;
    delete[] h_code;
    cudaFree(d_picture);
    cudaFree(d_levels);
    cudaFree(d_poster);
    cudaFree(d_code);
    return 0;
}
