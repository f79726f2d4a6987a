#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>
#include <cuda_runtime.h>

void read_bin(const std::string& path, float* data, size_t count) {
    std::ifstream file(path, std::ios::binary);
    file.read(reinterpret_cast<char*>(data), count * sizeof(float));
    if (!file) {
        std::cerr << "could not load " << path << std::endl;
        exit(1);
    }
}

void write_bin(const std::string& path, const float* data, size_t count) {
    std::ofstream stream(path, std::ios::binary);
    stream.write(reinterpret_cast<const char*>(data), count * sizeof(float));
}
//@given

const int ROWS = 100;
const int COLS = 130;
const int THREADS = 128;

__global__ void row_means(const float* a, float* row) {
    __shared__ float sums[THREADS];
    int t = threadIdx.x;
    float sum = 0.0f;
    for (int j = t; j < COLS; j += THREADS) sum += a[blockIdx.x * COLS + j];
    sums[t] = sum;
    __syncthreads();
    for (int s = THREADS / 2; s > 0; s /= 2) {
        if (t < s) sums[t] += sums[t + s];
        __syncthreads();
    }
    if (t == 0) row[blockIdx.x] = sums[0] / COLS;
}

// Subtracting the row mean first makes the remaining column mean equal to c[j] - m.
__global__ void centre_columns(const float* a, const float* row, float* centred) {
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    if (j >= COLS) return;
    float sum = 0.0f;
    for (int i = 0; i < ROWS; ++i) sum += a[i * COLS + j] - row[i];
    float mean = sum / ROWS;
    for (int i = 0; i < ROWS; ++i) centred[i * COLS + j] = a[i * COLS + j] - row[i] - mean;
}

int main() {
    const size_t a_size = (size_t)ROWS * COLS;
    float* h_a = new float[a_size];
    float* h_centred = new float[a_size];
    read_bin("data/a.bin", h_a, a_size);

    float* d_a;
    cudaMalloc(&d_a, a_size * sizeof(float));
    float* d_centred;
    cudaMalloc(&d_centred, a_size * sizeof(float));
    float* d_row;
    cudaMalloc(&d_row, ROWS * sizeof(float));
    cudaMemcpy(d_a, h_a, a_size * sizeof(float), cudaMemcpyHostToDevice);

    row_means<<<ROWS, THREADS>>>(d_a, d_row);
    centre_columns<<<(COLS + THREADS - 1) / THREADS, THREADS>>>(d_a, d_row, d_centred);
    cudaDeviceSynchronize();

    cudaMemcpy(h_centred, d_centred, a_size * sizeof(float), cudaMemcpyDeviceToHost);
    write_bin("data/centred.bin", h_centred, a_size);

    delete[] h_a;
    delete[] h_centred;
    cudaFree(d_a);
    cudaFree(d_centred);
    cudaFree(d_row);
    return 0;
}
