#include <fstream>
#include <iostream>
#include <vector>
#include <cuda_runtime.h>

const int ROWS = 200;
const int COLS = 150;
const float EPS = 1e-4f;

__global__ void column_lengths(const float* a, float* length) {
    int c = blockIdx.x * blockDim.x + threadIdx.x;
    if (c >= COLS) return;
    float sum = 0.0f;
    for (int r = 0; r < ROWS; ++r) {
        float v = a[r * COLS + c];
        sum += v * v;
    }
    length[c] = sqrtf(sum);
}

__global__ void scale_columns(const float* a, const float* length, float* unit) {
    int idx = blockIdx.x * blockDim.x + threadIdx.x;
    if (idx < ROWS * COLS) unit[idx] = a[idx] / fmaxf(length[idx % COLS], EPS);
}

int main() {
    const size_t n_a = (size_t)ROWS * COLS;
    std::vector<float> h_a(n_a), h_unit(n_a), h_length(COLS);
    std::ifstream a_file("data/a.bin", std::ios::binary);
    a_file.read(reinterpret_cast<char*>(h_a.data()), n_a * sizeof(float));
    if (!a_file) {
        std::cerr << "could not read data/a.bin" << std::endl;
        return 1;
    }

    float *d_a = nullptr, *d_unit = nullptr, *d_length = nullptr;
    cudaMalloc(&d_a, n_a * sizeof(float));
    cudaMemcpy(d_a, h_a.data(), n_a * sizeof(float), cudaMemcpyHostToDevice);
    cudaMalloc(&d_unit, n_a * sizeof(float));
    cudaMalloc(&d_length, COLS * sizeof(float));

    column_lengths<<<(COLS + 127) / 128, 128>>>(d_a, d_length);
    scale_columns<<<(ROWS * COLS + 255) / 256, 256>>>(d_a, d_length, d_unit);
    cudaError_t err = cudaGetLastError();
    if (err != cudaSuccess) {
        std::cerr << "kernel failed: " << cudaGetErrorString(err) << std::endl;
        return 1;
    }

    cudaMemcpy(h_unit.data(), d_unit, n_a * sizeof(float), cudaMemcpyDeviceToHost);
    cudaMemcpy(h_length.data(), d_length, COLS * sizeof(float), cudaMemcpyDeviceToHost);
    std::ofstream unit_out("data/unit.bin", std::ios::binary);
    unit_out.write(reinterpret_cast<const char*>(h_unit.data()), n_a * sizeof(float));
    std::ofstream length_out("data/length.bin", std::ios::binary);
    length_out.write(reinterpret_cast<const char*>(h_length.data()), COLS * sizeof(float));

    cudaFree(d_a);
    cudaFree(d_unit);
    cudaFree(d_length);
    return 0;
}
