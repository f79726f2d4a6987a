#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>
#include <cuda_runtime.h>

void loadData(const std::string& path, void* buffer, size_t bytes) {
    std::ifstream in(path, std::ios::binary);
    if (!in.read(static_cast<char*>(buffer), bytes)) {
        std::cerr << "failed to read " << path << std::endl;
        std::exit(1);
    }
}

void saveData(const std::string& path, const void* buffer, size_t bytes) {
    std::ofstream out(path, std::ios::binary);
    out.write(static_cast<const char*>(buffer), bytes);
}
//@given

inline int ceil_div(int a, int b) {
    return (a + b - 1) / b;
}

#define BATCH 40
#define LENGTH 128
#define PAD_TOKEN 50256

__global__ void pad_left(const int* tokens, const int* lengths, int* padded, int* position, unsigned char* mask) {
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    int b = blockIdx.y;
    if (t >= LENGTH) return;
    int source = t - (LENGTH - lengths[b]);
    int i = b * LENGTH + t;
    if (source >= 0) {
        padded[i] = tokens[b * LENGTH + source];
        position[i] = source;
        mask[i] = 1;
    } else {
        padded[i] = PAD_TOKEN;
        position[i] = 0;
        mask[i] = 0;
    }
}

int main() {
    int* h_tokens = new int[BATCH * LENGTH];
    int* h_lengths = new int[BATCH];
    int* h_padded = new int[BATCH * LENGTH];
    int* h_position = new int[BATCH * LENGTH];
    unsigned char* h_mask = new unsigned char[BATCH * LENGTH];
    loadData("data/tokens.bin", h_tokens, sizeof(int) * BATCH * LENGTH);
    loadData("data/lengths.bin", h_lengths, sizeof(int) * BATCH);

    int* d_tokens;
    cudaMalloc(&d_tokens, sizeof(int) * BATCH * LENGTH);
    int* d_lengths;
    cudaMalloc(&d_lengths, sizeof(int) * BATCH);
    int* d_padded;
    cudaMalloc(&d_padded, sizeof(int) * BATCH * LENGTH);
    int* d_position;
    cudaMalloc(&d_position, sizeof(int) * BATCH * LENGTH);
    unsigned char* d_mask;
    cudaMalloc(&d_mask, sizeof(unsigned char) * BATCH * LENGTH);
    cudaMemcpy(d_tokens, h_tokens, sizeof(int) * BATCH * LENGTH, cudaMemcpyHostToDevice);
    cudaMemcpy(d_lengths, h_lengths, sizeof(int) * BATCH, cudaMemcpyHostToDevice);

    dim3 grid(ceil_div(LENGTH, 128), BATCH);
    pad_left<<<grid, 128>>>(d_tokens, d_lengths, d_padded, d_position, d_mask);

    cudaMemcpy(h_padded, d_padded, sizeof(int) * BATCH * LENGTH, cudaMemcpyDeviceToHost);
    cudaMemcpy(h_position, d_position, sizeof(int) * BATCH * LENGTH, cudaMemcpyDeviceToHost);
    cudaMemcpy(h_mask, d_mask, sizeof(unsigned char) * BATCH * LENGTH, cudaMemcpyDeviceToHost);
    saveData("data/padded.bin", h_padded, sizeof(int) * BATCH * LENGTH);
    saveData("data/position.bin", h_position, sizeof(int) * BATCH * LENGTH);
    saveData("data/mask.bin", h_mask, sizeof(unsigned char) * BATCH * LENGTH);

    cudaFree(d_tokens);
    cudaFree(d_lengths);
    cudaFree(d_padded);
    cudaFree(d_position);
    cudaFree(d_mask);
    delete[] h_tokens;
    delete[] h_lengths;
    delete[] h_padded;
    delete[] h_position;
    delete[] h_mask;
    return 0;
}
