#include <cuda_runtime.h>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>

void read_into(const std::string& filename, void* dst, size_t bytes) {
    std::ifstream in(filename, std::ios::binary);
    if (!in) {
        std::cerr << "cannot open " << filename << std::endl;
        exit(1);
    }
    in.read(reinterpret_cast<char*>(dst), bytes);
}

void write_from(const std::string& filename, const void* dst, size_t bytes) {
    std::ofstream file(filename, std::ios::binary);
    file.write(reinterpret_cast<const char*>(dst), bytes);
}
//@given

constexpr int kBlockRows = 200;
constexpr int kBlocks = 1500;
constexpr int kSize = 3;

static int blocks_for(int items, int block) {
    return (items + block - 1) / block;
}

__global__ void scalar_row_norms(const int* row_start, const float* block, float* row_norm) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= kBlockRows * kSize) return;
    int R = i / kSize, r = i % kSize;
    float sum = 0.0f;
    for (int b = row_start[R]; b < row_start[R + 1]; ++b) {
        const float* line = block + ((size_t)b * kSize + r) * kSize;
        for (int c = 0; c < kSize; ++c) sum += line[c] * line[c];
    }
    row_norm[i] = sqrtf(sum);
}

__global__ void frobenius_norms(const float* block, float* block_norm) {
    int b = blockIdx.x * blockDim.x + threadIdx.x;
    if (b >= kBlocks) return;
    const float* entry = block + (size_t)b * kSize * kSize;
    float sum = 0.0f;
    for (int j = 0; j < kSize * kSize; ++j) sum += entry[j] * entry[j];
    block_norm[b] = sqrtf(sum);
}

int main() {
    int* h_row_start = new int[kBlockRows + 1];
    float* h_block = new float[kBlocks * kSize * kSize];
    float* h_row_norm = new float[kBlockRows * kSize];
    float* h_block_norm = new float[kBlocks];
    read_into("data/row_start.bin", h_row_start, (kBlockRows + 1) * sizeof(int));
    read_into("data/block.bin", h_block, kBlocks * kSize * kSize * sizeof(float));

    int *dev_row_start;
    float *dev_block, *dev_row_norm, *dev_block_norm;
    cudaMalloc(&dev_row_start, (kBlockRows + 1) * sizeof(int));
    cudaMalloc(&dev_block, kBlocks * kSize * kSize * sizeof(float));
    cudaMalloc(&dev_row_norm, kBlockRows * kSize * sizeof(float));
    cudaMalloc(&dev_block_norm, kBlocks * sizeof(float));
    cudaMemcpy(dev_row_start, h_row_start, (kBlockRows + 1) * sizeof(int), cudaMemcpyHostToDevice);
    cudaMemcpy(dev_block, h_block, kBlocks * kSize * kSize * sizeof(float), cudaMemcpyHostToDevice);

    scalar_row_norms<<<blocks_for(kBlockRows * kSize, 256), 256>>>(dev_row_start, dev_block, dev_row_norm);
    frobenius_norms<<<blocks_for(kBlocks, 256), 256>>>(dev_block, dev_block_norm);
    cudaDeviceSynchronize();
    cudaMemcpy(h_row_norm, dev_row_norm, kBlockRows * kSize * sizeof(float), cudaMemcpyDeviceToHost);
    cudaMemcpy(h_block_norm, dev_block_norm, kBlocks * sizeof(float), cudaMemcpyDeviceToHost);

    write_from("data/row_norm.bin", h_row_norm, kBlockRows * kSize * sizeof(float));
    write_from("data/block_norm.bin", h_block_norm, kBlocks * sizeof(float));

    cudaFree(dev_row_start);
    cudaFree(dev_block);
    cudaFree(dev_row_norm);
    cudaFree(dev_block_norm);
    delete[] h_row_start;
    delete[] h_block;
    delete[] h_row_norm;
    delete[] h_block_norm;
    return 0;
}
