#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>
#include <cuda_runtime.h>

void read_file(const std::string& path, uint32_t* values, size_t count) {
    std::ifstream in(path, std::ios::binary);
    in.read(reinterpret_cast<char*>(values), count * sizeof(uint32_t));
    if (!in) {
        std::cerr << "cannot read " << path << "\n";
        std::exit(1);
    }
}

void write_file(const std::string& path, const int* values, size_t count) {
    std::ofstream out(path, std::ios::binary);
    out.write(reinterpret_cast<const char*>(values), count * sizeof(int));
}
//@given

const int N = 6000;

__device__ int every_third_bit(uint32_t code, int start) {
    int value = 0;
    for (int k = 0; k < 10; ++k) value |= (int)((code >> (3 * k + start)) & 1u) << k;
    return value;
}

__global__ void decode(const uint32_t* codes, int* cells, int* steps, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int total = 0;
    for (int axis = 0; axis < 3; ++axis) {
        int here = every_third_bit(codes[i], axis);
        cells[3 * i + axis] = here;
        if (i > 0) total += abs(here - every_third_bit(codes[i - 1], axis));
    }
    steps[i] = total;
}

int main() {
    const size_t total = N * 3;
    uint32_t* h_codes = new uint32_t[N];
    int* h_cells = new int[total];
    int* h_step_length = new int[N];
    read_file("data/codes.bin", h_codes, N);

    uint32_t* d_codes;
    cudaMalloc(&d_codes, N * sizeof(uint32_t));
    int* d_cells;
    cudaMalloc(&d_cells, total * sizeof(int));
    int* d_step_length;
    cudaMalloc(&d_step_length, N * sizeof(int));
    cudaMemcpy(d_codes, h_codes, N * sizeof(uint32_t), cudaMemcpyHostToDevice);

    int threads = 256;
    int blocks = (N + threads - 1) / threads;
    decode<<<blocks, threads>>>(d_codes, d_cells, d_step_length, N);

    cudaMemcpy(h_cells, d_cells, total * sizeof(int), cudaMemcpyDeviceToHost);
    write_file("data/cells.bin", h_cells, total);
    cudaMemcpy(h_step_length, d_step_length, N * sizeof(int), cudaMemcpyDeviceToHost);
    write_file("data/step_length.bin", h_step_length, N);

    delete[] h_codes;
    delete[] h_cells;
    delete[] h_step_length;
    cudaFree(d_codes);
    cudaFree(d_cells);
    cudaFree(d_step_length);
    return 0;
}
