#include <cstdlib>
#include <fstream>
#include <iostream>
#include <cuda_runtime.h>

void read_into(const char* path, void* ptr, size_t bytes) {
    std::ifstream stream(path, std::ios::binary);
    if (!stream) {
        std::cerr << "no such file: " << path << std::endl;
        exit(1);
    }
    stream.read(reinterpret_cast<char*>(ptr), bytes);
}

void write_from(const char* path, const void* ptr, size_t bytes) {
    std::ofstream stream(path, std::ios::binary);
    stream.write(reinterpret_cast<const char*>(ptr), bytes);
}
//@given

#define DIAGONALS 5
#define N 4000

inline int div_up(int a, int b) {
    return (a + b - 1) / b;
}

__global__ void dia_multiply(const int* offset, const float* band, const float* x, float* y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= N) return;
    float sum = 0.0f;
    for (int d = 0; d < DIAGONALS; ++d) {
        int j = i + offset[d];
        if (j >= 0 && j < N) sum += band[(size_t)d * N + i] * x[j];
    }
    y[i] = sum;
}

int main() {
    int* offset = new int[DIAGONALS];
    float* band = new float[DIAGONALS * N];
    float* x = new float[N];
    float* y = new float[N];
    read_into("data/offset.bin", offset, DIAGONALS * sizeof(int));
    read_into("data/band.bin", band, DIAGONALS * N * sizeof(float));
    read_into("data/x.bin", x, N * sizeof(float));

    int *d_offset;
    float *d_band, *d_x, *d_y;
    cudaMalloc(&d_offset, DIAGONALS * sizeof(int));
    cudaMalloc(&d_band, DIAGONALS * N * sizeof(float));
    cudaMalloc(&d_x, N * sizeof(float));
    cudaMalloc(&d_y, N * sizeof(float));
    cudaMemcpy(d_offset, offset, DIAGONALS * sizeof(int), cudaMemcpyHostToDevice);
    cudaMemcpy(d_band, band, DIAGONALS * N * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_x, x, N * sizeof(float), cudaMemcpyHostToDevice);

    dia_multiply<<<div_up(N, 256), 256>>>(d_offset, d_band, d_x, d_y);
    cudaMemcpy(y, d_y, N * sizeof(float), cudaMemcpyDeviceToHost);

    write_from("data/y.bin", y, N * sizeof(float));

    cudaFree(d_offset);
    cudaFree(d_band);
    cudaFree(d_x);
    cudaFree(d_y);
    delete[] offset;
    delete[] band;
    delete[] x;
    delete[] y;
    return 0;
}
