#include <cuda_runtime.h>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>

template <typename T>
void load_bin(const std::string& filename, T* dst, size_t num) {
    std::ifstream in(filename, std::ios::binary);
    if (!in.read((char*)dst, num * sizeof(T))) {
        std::cerr << "failed to read " << filename << "\n";
        std::exit(1);
    }
}

template <typename T>
void store_bin(const std::string& filename, const T* dst, size_t num) {
    std::ofstream stream(filename, std::ios::binary);
    stream.write(reinterpret_cast<const char*>(dst), num * sizeof(T));
}
//@given

const int N = 1500;
const int WIDTH = 5;
const int BLOCK = 256;

// Divides the rows once by their diagonal; the quotient of b is the result of the first sweep.
__global__ void prepare(const int* __restrict__ col, const float* __restrict__ value,
                        const float* __restrict__ diagonal, const float* __restrict__ b,
                        float* __restrict__ scaled, float* __restrict__ start) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    if (i >= N) return;
    float inverse = 1.0f / diagonal[i];
    for (int k = 0; k < WIDTH; ++k) {
        scaled[k * N + i] = col[k * N + i] >= 0 ? -value[k * N + i] * inverse : 0.0f;
    }
    start[i] = b[i] * inverse;
}

__global__ void sweep(const int* __restrict__ col, const float* __restrict__ scaled,
        const float* __restrict__ start,
                      const float* __restrict__ from, float* __restrict__ to) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    if (i >= N) return;
    float sum = start[i];
    #pragma unroll
    for (int k = 0; k < WIDTH; ++k) sum = fmaf(scaled[k * N + i], from[max(col[k * N + i], 0)], sum);
    to[i] = sum;
}

int main() {
    int* h_col = new int[WIDTH * N];
    float* h_value = new float[WIDTH * N];
    float* h_diagonal = new float[N];
    float* h_b = new float[N];
    float* h_x = new float[N];
    load_bin("data/col.bin", h_col, WIDTH * N);
    load_bin("data/value.bin", h_value, WIDTH * N);
    load_bin("data/diagonal.bin", h_diagonal, N);
    load_bin("data/b.bin", h_b, N);

    int* d_col;
    float* d_value;
    float* d_diagonal;
    float* d_b;
    float* d_x;
    float* d_scaled;
    float* d_start;
    float* d_work;
    cudaMalloc(&d_col, WIDTH * N * sizeof(int));
    cudaMalloc(&d_value, WIDTH * N * sizeof(float));
    cudaMalloc(&d_diagonal, N * sizeof(float));
    cudaMalloc(&d_b, N * sizeof(float));
    cudaMalloc(&d_x, N * sizeof(float));
    cudaMalloc(&d_scaled, WIDTH * N * sizeof(float));
    cudaMalloc(&d_start, N * sizeof(float));
    cudaMalloc(&d_work, N * sizeof(float));
    cudaMemcpy(d_col, h_col, WIDTH * N * sizeof(int), cudaMemcpyHostToDevice);
    cudaMemcpy(d_value, h_value, WIDTH * N * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_diagonal, h_diagonal, N * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_b, h_b, N * sizeof(float), cudaMemcpyHostToDevice);

    int blocks = (N + BLOCK - 1) / BLOCK;
    prepare<<<blocks, BLOCK>>>(d_col, d_value, d_diagonal, d_b, d_scaled, d_start);
    sweep<<<blocks, BLOCK>>>(d_col, d_scaled, d_start, d_start, d_x);
    for (int pair = 0; pair < 4; ++pair) {
        sweep<<<blocks, BLOCK>>>(d_col, d_scaled, d_start, d_x, d_work);
        sweep<<<blocks, BLOCK>>>(d_col, d_scaled, d_start, d_work, d_x);
    }
    cudaDeviceSynchronize();
    cudaMemcpy(h_x, d_x, N * sizeof(float), cudaMemcpyDeviceToHost);

    store_bin("data/x.bin", h_x, N);

    cudaFree(d_col);
    cudaFree(d_value);
    cudaFree(d_diagonal);
    cudaFree(d_b);
    cudaFree(d_x);
    cudaFree(d_scaled);
    cudaFree(d_start);
    cudaFree(d_work);
    delete[] h_col;
    delete[] h_value;
    delete[] h_diagonal;
    delete[] h_b;
    delete[] h_x;
    return 0;
}
