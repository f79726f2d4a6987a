#include <cuda_runtime.h>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>

void load(const std::string& path, float* buffer, size_t size) {
    std::ifstream stream(path, std::ios::binary);
    if (!stream.read(reinterpret_cast<char*>(buffer), size * sizeof(float))) {
        std::cerr << "Could not read " << path << std::endl;
        exit(EXIT_FAILURE);
    }
}

void save(const std::string& path, const float* buffer, size_t size) {
    std::ofstream stream(path, std::ios::binary);
    stream.write(reinterpret_cast<const char*>(buffer), size * sizeof(float));
}
//@given

#define ROWS 90
#define COLS 130
#define DIAGONALS (ROWS + COLS - 1)

__global__ void diagonal_sums(const float* a, float* sums) {
    int k = blockIdx.x * blockDim.x + threadIdx.x;
    if (k >= DIAGONALS) return;
    int shift = k - (ROWS - 1);
    int r = shift < 0 ? -shift : 0;
    int c = r + shift;
    float sum = 0.0f;
    while (r < ROWS && c < COLS) {
        sum += a[(size_t)r * COLS + c];
        ++r;
        ++c;
    }
    sums[k] = sum;
}

int main() {
    const size_t a_count = (size_t)ROWS * COLS;
    const size_t sums_count = (size_t)ROWS + COLS - 1;
    float* h_a = new float[a_count];
    load("data/a.bin", h_a, a_count);
    float* h_sums = new float[sums_count];

    float *d_a, *d_sums;
    cudaMalloc(&d_a, a_count * sizeof(float));
    cudaMalloc(&d_sums, sums_count * sizeof(float));
    cudaMemcpy(d_a, h_a, a_count * sizeof(float), cudaMemcpyHostToDevice);

    diagonal_sums<<<(DIAGONALS + 128 - 1) / 128, 128>>>(d_a, d_sums);
    cudaError_t err = cudaGetLastError();
    if (err != cudaSuccess) {
        std::cerr << "launch: " << cudaGetErrorString(err) << std::endl;
        return 1;
    }

    cudaMemcpy(h_sums, d_sums, sums_count * sizeof(float), cudaMemcpyDeviceToHost);
    save("data/sums.bin", h_sums, sums_count);

    cudaFree(d_a);
    cudaFree(d_sums);
    delete[] h_a;
    delete[] h_sums;
    return 0;
}
