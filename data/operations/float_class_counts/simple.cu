#include <fstream>
#include <iostream>
#include <vector>
#include <cuda_runtime.h>

const int ROWS = 30;
const int COLS = 800;
const int BLOCK = 128;

__global__ void classify(const unsigned int* bits, int* counts) {
    __shared__ int total[5];
    int t = threadIdx.x;
    if (t < 5) total[t] = 0;
    __syncthreads();
    for (int c = t; c < COLS; c += BLOCK) {
        unsigned int b = bits[(size_t)blockIdx.x * COLS + c];
        unsigned int exponent = (b >> 23) & 0xffu;
        unsigned int fraction = b & 0x7fffffu;
        int kind = 2;
        if (exponent == 0) kind = fraction == 0 ? 0 : 1;
        else if (exponent == 255) kind = fraction == 0 ? 3 : 4;
        atomicAdd(&total[kind], 1);
    }
    __syncthreads();
    if (t < 5) counts[blockIdx.x * 5 + t] = total[t];
}

int main() {
    const int n_bits = ROWS * COLS;
    const int n_counts = ROWS * 5;
    std::vector<unsigned int> h_bits(n_bits);
    std::vector<int> h_counts(n_counts);

    std::ifstream fin("data/bits.bin", std::ios::binary);
    fin.read((char*)h_bits.data(), n_bits * sizeof(unsigned int));
    if (!fin) {
        std::cerr << "Failed to read data/bits.bin" << std::endl;
        return 1;
    }

    unsigned int* d_bits;
    int* d_counts;
    cudaMalloc(&d_bits, n_bits * sizeof(unsigned int));
    cudaMalloc(&d_counts, n_counts * sizeof(int));
    cudaMemcpy(d_bits, h_bits.data(), n_bits * sizeof(unsigned int), cudaMemcpyHostToDevice);

    classify<<<ROWS, BLOCK>>>(d_bits, d_counts);
    cudaError_t err = cudaGetLastError();
    if (err != cudaSuccess) {
        std::cerr << "Kernel failed: " << cudaGetErrorString(err) << std::endl;
        return 1;
    }
    cudaMemcpy(h_counts.data(), d_counts, n_counts * sizeof(int), cudaMemcpyDeviceToHost);

    std::ofstream fout("data/counts.bin", std::ios::binary);
    fout.write((char*)h_counts.data(), n_counts * sizeof(int));
    fout.close();

    cudaFree(d_bits);
    cudaFree(d_counts);
    return 0;
}
