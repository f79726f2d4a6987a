#include <fstream>
#include <iostream>
#include <vector>
#include <cuda_runtime.h>

constexpr int BATCH = 40;
constexpr int LENGTH = 128;
constexpr int TOTAL = BATCH * LENGTH;

__global__ void shift_prompts(const int* __restrict__ tokens, const int* __restrict__ lengths,
                              int* __restrict__ padded, int* __restrict__ position,
                                      unsigned char* __restrict__ mask) {
    const int stride = gridDim.x * blockDim.x;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < TOTAL; i += stride) {
        const int b = i / LENGTH;
        const int gap = LENGTH - lengths[b];
        const int source = i - b * LENGTH - gap;
        const bool real = source >= 0;
        // Within a row the token moves by the width of the gap.
        padded[i] = real ? tokens[i - gap] : 50256;
        position[i] = max(source, 0);
        mask[i] = real;
    }
}

int main() {
    std::vector<int> h_tokens(TOTAL);
    std::vector<int> h_lengths(BATCH);
    std::vector<int> h_padded(TOTAL);
    std::vector<int> h_position(TOTAL);
    std::vector<unsigned char> h_mask(TOTAL);
    std::ifstream file_tokens("data/tokens.bin", std::ios::binary);
    file_tokens.read((char*)h_tokens.data(), sizeof(int) * TOTAL);
    if (!file_tokens) {
        std::cerr << "failed to read data/tokens.bin" << std::endl;
        return 1;
    }
    std::ifstream file_lengths("data/lengths.bin", std::ios::binary);
    file_lengths.read((char*)h_lengths.data(), sizeof(int) * BATCH);
    if (!file_lengths) {
        std::cerr << "failed to read data/lengths.bin" << std::endl;
        return 1;
    }

    int* d_tokens;
    cudaMalloc(&d_tokens, sizeof(int) * TOTAL);
    int* d_lengths;
    cudaMalloc(&d_lengths, sizeof(int) * BATCH);
    int* d_padded;
    cudaMalloc(&d_padded, sizeof(int) * TOTAL);
    int* d_position;
    cudaMalloc(&d_position, sizeof(int) * TOTAL);
    unsigned char* d_mask;
    cudaMalloc(&d_mask, sizeof(unsigned char) * TOTAL);
    cudaMemcpy(d_tokens, h_tokens.data(), sizeof(int) * TOTAL, cudaMemcpyHostToDevice);
    cudaMemcpy(d_lengths, h_lengths.data(), sizeof(int) * BATCH, cudaMemcpyHostToDevice);

    int blocks = (TOTAL + 255) / 256;
    if (blocks > 1056) blocks = 1056;
    shift_prompts<<<blocks, 256>>>(d_tokens, d_lengths, d_padded, d_position, d_mask);
    cudaError_t status = cudaGetLastError();
    if (status != cudaSuccess) {
        std::cerr << "CUDA error: " << cudaGetErrorString(status) << std::endl;
        return 1;
    }

    cudaMemcpy(h_padded.data(), d_padded, sizeof(int) * TOTAL, cudaMemcpyDeviceToHost);
    cudaMemcpy(h_position.data(), d_position, sizeof(int) * TOTAL, cudaMemcpyDeviceToHost);
    cudaMemcpy(h_mask.data(), d_mask, sizeof(unsigned char) * TOTAL, cudaMemcpyDeviceToHost);
    std::ofstream out_padded("data/padded.bin", std::ios::binary);
    out_padded.write((char*)h_padded.data(), sizeof(int) * TOTAL);
    std::ofstream out_position("data/position.bin", std::ios::binary);
    out_position.write((char*)h_position.data(), sizeof(int) * TOTAL);
    std::ofstream out_mask("data/mask.bin", std::ios::binary);
    out_mask.write((char*)h_mask.data(), sizeof(unsigned char) * TOTAL);

    cudaFree(d_tokens);
    cudaFree(d_lengths);
    cudaFree(d_padded);
    cudaFree(d_position);
    cudaFree(d_mask);
}
