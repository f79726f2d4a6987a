#include <fstream>
#include <iostream>
#include <vector>
#include <cuda_runtime.h>

#define ROWS 300
#define COLS 65
#define BLOCK 64

__global__ void row_flags(const unsigned char* mask, unsigned char* flags) {
    __shared__ int counts[BLOCK];
    const unsigned char* row = mask + (size_t)blockIdx.x * COLS;
    int t = threadIdx.x;
    int n = 0;
    for (int c = t; c < COLS; c += BLOCK) {
        if (row[c] != 0) ++n;
    }
    counts[t] = n;
    __syncthreads();
    for (int s = BLOCK / 2; s > 0; s /= 2) {
        if (t < s) counts[t] += counts[t + s];
        __syncthreads();
    }
    if (t == 0) {
        n = counts[0];
        int f = 0;
        if (n > 0) f |= 1;
        if (n == COLS) f |= 2;
        if (n == 1) f |= 4;
        if (n & 1) f |= 8;
        flags[blockIdx.x] = (unsigned char)f;
    }
}

int main() {
    std::vector<unsigned char> h_mask(ROWS * COLS);
    std::vector<unsigned char> h_flags(ROWS);

    std::ifstream file("data/mask.bin", std::ios::binary);
    file.read((char*)h_mask.data(), ROWS * COLS * sizeof(unsigned char));
    if (!file) {
        std::cerr << "Cannot read data/mask.bin" << std::endl;
        return 1;
    }

    unsigned char *d_mask, *d_flags;
    cudaMalloc(&d_mask, ROWS * COLS * sizeof(unsigned char));
    cudaMalloc(&d_flags, ROWS * sizeof(unsigned char));
    cudaMemcpy(d_mask, h_mask.data(), ROWS * COLS * sizeof(unsigned char), cudaMemcpyHostToDevice);

    row_flags<<<ROWS, BLOCK>>>(d_mask, d_flags);
    cudaError_t status = cudaGetLastError();
    if (status != cudaSuccess) {
        std::cerr << "CUDA error: " << cudaGetErrorString(status) << std::endl;
        return 1;
    }
    cudaMemcpy(h_flags.data(), d_flags, ROWS * sizeof(unsigned char), cudaMemcpyDeviceToHost);

    std::ofstream fout("data/flags.bin", std::ios::binary);
    fout.write((char*)h_flags.data(), ROWS * sizeof(unsigned char));
    fout.close();

    cudaFree(d_mask);
    cudaFree(d_flags);
    return 0;
}
