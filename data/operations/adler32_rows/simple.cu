#include <fstream>
#include <iostream>
#include <vector>
#include <cuda_runtime.h>

static const int ROWS = 60;
static const int WIDTH = 700;

__global__ void adler32(const unsigned char* blocks, unsigned int* checksum) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r < ROWS) {
        const unsigned char* row = blocks + (size_t)r * WIDTH;
        unsigned int a = 1, b = 0;
        for (int i = 0; i < WIDTH; ++i) {
            a = (a + row[i]) % 65521u;
            b = (b + a) % 65521u;
        }
        checksum[r] = (b << 16) | a;
    }
}

void run(const unsigned char* d_blocks, unsigned int* d_checksum) {
    int threads = 64;
    adler32<<<(ROWS + threads - 1) / threads, threads>>>(d_blocks, d_checksum);
}

int main() {
    const size_t count = (size_t)ROWS * WIDTH;
    std::vector<unsigned char> blocks(count);
    std::vector<unsigned int> checksum(ROWS);
    if (!std::ifstream("data/blocks.bin", std::ios::binary)
             .read((char*)blocks.data(), count * sizeof(unsigned char))) {
        std::cerr << "data/blocks.bin is missing or short\n";
        return 1;
    }

    unsigned char *d_blocks;
    unsigned int *d_checksum;
    cudaMalloc(&d_blocks, count * sizeof(unsigned char));
    cudaMalloc(&d_checksum, ROWS * sizeof(unsigned int));
    cudaMemcpy(d_blocks, blocks.data(), count * sizeof(unsigned char), cudaMemcpyHostToDevice);
    run(d_blocks, d_checksum);
    cudaMemcpy(checksum.data(), d_checksum, ROWS * sizeof(unsigned int), cudaMemcpyDeviceToHost);
    cudaError_t err = cudaGetLastError();
    if (err != cudaSuccess) {
        std::cerr << cudaGetErrorString(err) << "\n";
        return 1;
    }
    std::ofstream("data/checksum.bin", std::ios::binary)
        .write((const char*)checksum.data(), ROWS * sizeof(unsigned int));
    cudaFree(d_blocks);
    cudaFree(d_checksum);
    return 0;
}
