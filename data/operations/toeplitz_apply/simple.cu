#include <cuda_runtime.h>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>

void read_data(const std::string& path, void* dst, size_t bytes) {
    std::ifstream stream(path, std::ios::binary);
    stream.read(static_cast<char*>(dst), bytes);
    if (!stream) {
        std::cerr << "Failed to read " << path << std::endl;
        exit(1);
    }
}

void write_data(const std::string& path, const void* dst, size_t bytes) {
    std::ofstream stream(path, std::ios::binary);
    stream.write(static_cast<const char*>(dst), bytes);
}
//@given

#define GRID_FOR(a, b) (((a) + (b) - 1) / (b))
const int ROWS = 300;
const int COLS = 200;

__global__ void toeplitz(const float* t, const float* x, float* y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= ROWS) return;
    float sum = 0.0f;
    for (int j = 0; j < COLS; ++j) {
        sum += t[i - j + COLS - 1] * x[j];
    }
    y[i] = sum;
}

int main() {
    float* h_t = new float[ROWS + COLS - 1];
    float* h_x = new float[COLS];
    float* h_y = new float[ROWS];
    read_data("data/t.bin", h_t, sizeof(float) * (ROWS + COLS - 1));
    read_data("data/x.bin", h_x, COLS * sizeof(float));

    float *d_t, *d_x, *d_y;
    cudaMalloc(&d_t, sizeof(float) * (ROWS + COLS - 1));
    cudaMalloc(&d_x, COLS * sizeof(float));
    cudaMalloc(&d_y, ROWS * sizeof(float));
    cudaMemcpy(d_t, h_t, sizeof(float) * (ROWS + COLS - 1), cudaMemcpyHostToDevice);
    cudaMemcpy(d_x, h_x, COLS * sizeof(float), cudaMemcpyHostToDevice);

    const int threads = 128;
    const int blocks = GRID_FOR(ROWS, threads);
    toeplitz<<<blocks, threads>>>(d_t, d_x, d_y);
    cudaDeviceSynchronize();

    cudaMemcpy(h_y, d_y, ROWS * sizeof(float), cudaMemcpyDeviceToHost);
    write_data("data/y.bin", h_y, ROWS * sizeof(float));

    delete[] h_t;
    delete[] h_x;
    delete[] h_y;
    cudaFree(d_t);
    cudaFree(d_x);
    cudaFree(d_y);
    return 0;
}
