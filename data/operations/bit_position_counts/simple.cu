#include <cuda_runtime.h>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>

void readFile(const std::string& path, void* data, size_t bytes) {
    std::ifstream file(path, std::ios::binary);
    if (!file.read(reinterpret_cast<char*>(data), bytes)) {
        std::cerr << "Error reading " << path << std::endl;
        exit(EXIT_FAILURE);
    }
}

void writeFile(const std::string& path, const void* data, size_t bytes) {
    std::ofstream out(path, std::ios::binary);
    out.write(reinterpret_cast<const char*>(data), bytes);
}
//@given

const int ROWS = 30;
const int COLS = 900;
const int BLOCK = 256;

__global__ void count_bits(const unsigned int* words, int* ones) {
    __shared__ int counts[32];
    int t = threadIdx.x;
    if (t < 32) counts[t] = 0;
    __syncthreads();
    int mine[32];
    for (int k = 0; k < 32; ++k) mine[k] = 0;
    const unsigned int* row = words + (size_t)blockIdx.x * COLS;
    for (int c = t; c < COLS; c += BLOCK) {
        unsigned int w = row[c];
        for (int k = 0; k < 32; ++k) mine[k] += (w >> k) & 1u;
    }
    for (int k = 0; k < 32; ++k) {
        if (mine[k] > 0) atomicAdd(&counts[k], mine[k]);
    }
    __syncthreads();
    if (t < 32) ones[blockIdx.x * 32 + t] = counts[t];
}

int main() {
    const size_t words_size = (size_t)ROWS * COLS;
    const size_t ones_size = (size_t)ROWS * 32;
    unsigned int* h_words = new unsigned int[words_size];
    readFile("data/words.bin", h_words, words_size * sizeof(unsigned int));
    int* h_ones = new int[ones_size];

    unsigned int* dev_words = nullptr;
    int* dev_ones = nullptr;
    cudaMalloc(&dev_words, words_size * sizeof(unsigned int));
    cudaMalloc(&dev_ones, ones_size * sizeof(int));
    cudaMemcpy(dev_words, h_words, words_size * sizeof(unsigned int), cudaMemcpyHostToDevice);

    count_bits<<<ROWS, BLOCK>>>(dev_words, dev_ones);
    cudaError_t err = cudaGetLastError();
    if (err != cudaSuccess) {
        std::cerr << "launch: " << cudaGetErrorString(err) << std::endl;
        return 1;
    }

    cudaMemcpy(h_ones, dev_ones, ones_size * sizeof(int), cudaMemcpyDeviceToHost);
    writeFile("data/ones.bin", h_ones, ones_size * sizeof(int));

    cudaFree(dev_words);
    cudaFree(dev_ones);
    delete[] h_words;
    delete[] h_ones;
    return 0;
}
