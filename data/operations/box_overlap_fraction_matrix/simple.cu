#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>
#include <cuda_runtime.h>

void read_binary(const std::string& path, float* buffer, size_t count) {
    std::ifstream file(path, std::ios::binary);
    if (!file.is_open()) {
        std::cerr << "cannot open " << path << std::endl;
        exit(1);
    }
    file.read(reinterpret_cast<char*>(buffer), count * sizeof(float));
}

void write_binary(const std::string& path, const float* buffer, size_t count) {
    std::ofstream file(path, std::ios::binary);
    file.write(reinterpret_cast<const char*>(buffer), count * sizeof(float));
}
//@given

constexpr int ROWS = 100;
constexpr int COLS = 150;

__global__ void overlap(const float* left, const float* right, float* fraction) {
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    int i = blockIdx.y * blockDim.y + threadIdx.y;
    if (i >= ROWS || j >= COLS) return;
    const float* a = left + 6 * i;
    const float* b = right + 6 * j;
    float common = 1.0f;
    for (int k = 0; k < 3; ++k) {
        float lo = fmaxf(a[k], b[k]);
        float hi = fminf(a[k] + a[k + 3], b[k] + b[k + 3]);
        common *= fmaxf(hi - lo, 0.0f);
    }
    float va = a[3] * a[4] * a[5];
    float vb = b[3] * b[4] * b[5];
    fraction[(size_t)i * COLS + j] = common / fminf(va, vb);
}

int main() {
    float* h_left = new float[ROWS * 6];
    float* h_right = new float[COLS * 6];
    float* h_fraction = new float[ROWS * COLS];
    read_binary("data/left.bin", h_left, ROWS * 6);
    read_binary("data/right.bin", h_right, COLS * 6);

    float *d_left, *d_right, *d_fraction;
    cudaMalloc(&d_left, ROWS * 6 * sizeof(float));
    cudaMalloc(&d_right, COLS * 6 * sizeof(float));
    cudaMalloc(&d_fraction, ROWS * COLS * sizeof(float));
    cudaMemcpy(d_left, h_left, ROWS * 6 * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_right, h_right, COLS * 6 * sizeof(float), cudaMemcpyHostToDevice);

    dim3 block(16, 16);
    dim3 grid((COLS + 15) / 16, (ROWS + 15) / 16);
    overlap<<<grid, block>>>(d_left, d_right, d_fraction);

    cudaMemcpy(h_fraction, d_fraction, ROWS * COLS * sizeof(float), cudaMemcpyDeviceToHost);
    write_binary("data/fraction.bin", h_fraction, ROWS * COLS);

    cudaFree(d_left);
    cudaFree(d_right);
    cudaFree(d_fraction);
    delete[] h_left;
    delete[] h_right;
    delete[] h_fraction;
    return 0;
}
