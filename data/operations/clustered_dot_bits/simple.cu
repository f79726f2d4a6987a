#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>
#include <cuda_runtime.h>

void load_array(const std::string& file_name, void* dst, size_t size) {
    std::ifstream file(file_name, std::ios::in | std::ios::binary);
    if (!file.read((char*)dst, size)) {
        std::cerr << "Failed to read " << file_name << "\n";
        exit(EXIT_FAILURE);
    }
}

void save_array(const std::string& file_name, const void* dst, size_t size) {
    std::ofstream file(file_name, std::ios::out | std::ios::binary);
    if (!file.write((const char*)dst, size)) {
        std::cerr << "Failed to write " << file_name << "\n";
        exit(EXIT_FAILURE);
    }
}
//@given

const int HEIGHT = 80;
const int WORDS = 7;
#define CEIL_DIV(total, per_block) (((total) + (per_block) - 1) / (per_block))

__constant__ int matrix[16] = {12, 5, 6, 13, 4, 0, 1, 7, 11, 3, 2, 8, 15, 10, 9, 14};

__global__ void halftone(const unsigned char* gray, unsigned int* bits, int* black) {
    int w = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y;
    if (w >= WORDS) return;
    const unsigned char* p = gray + (size_t)y * WORDS * 32 + w * 32;
    unsigned int word = 0;
    for (int k = 0; k < 32; ++k) {
        int limit = 16 * matrix[y % 4 * 4 + k % 4] + 8;
        word = word << 1 | (p[k] < limit ? 1u : 0u);
    }
    bits[y * WORDS + w] = word;
    atomicAdd(&black[y], __popc(word));
}

int main() {
    size_t n_gray = HEIGHT * (WORDS * 32);
    size_t n_bits = HEIGHT * WORDS;

    unsigned char* h_gray = new unsigned char[n_gray];
    unsigned int* h_bits = new unsigned int[n_bits];
    int* h_black = new int[HEIGHT];
    load_array("data/gray.bin", h_gray, n_gray * sizeof(unsigned char));

    unsigned char *d_gray;
    unsigned int *d_bits;
    int *d_black;
    cudaMalloc(&d_gray, n_gray * sizeof(unsigned char));
    cudaMalloc((void**)&d_bits, n_bits * sizeof(unsigned int));
    cudaMalloc(&d_black, HEIGHT * sizeof(int));
    cudaMemcpy(d_gray, h_gray, n_gray * sizeof(unsigned char), cudaMemcpyHostToDevice);

    cudaMemset(d_black, 0, HEIGHT * sizeof(int));
    dim3 grid(CEIL_DIV(WORDS, 64), HEIGHT);
    halftone<<<grid, 64>>>(d_gray, d_bits, d_black);
    cudaDeviceSynchronize();

    cudaMemcpy(h_bits, d_bits, n_bits * sizeof(unsigned int), cudaMemcpyDeviceToHost);
    cudaMemcpy(h_black, d_black, HEIGHT * sizeof(int), cudaMemcpyDeviceToHost);
    save_array("data/bits.bin", h_bits, n_bits * sizeof(unsigned int));
    save_array("data/black.bin", h_black, HEIGHT * sizeof(int));

    cudaFree(d_gray);
    cudaFree(d_bits);
    cudaFree(d_black);
    delete[] h_gray;
    delete[] h_bits;
    delete[] h_black;
    return 0;
}
