#include <fstream>
#include <iostream>
#include <vector>
#include <cuda_runtime.h>

const int COUNT = 600;
const int WIDTH = 31;
const int BLOCK = 256;

__global__ void crc8_table(const unsigned char* __restrict__ frames, const unsigned char* __restrict__ stored,
                           unsigned char* __restrict__ crc, unsigned char* __restrict__ intact) {
    __shared__ unsigned char table[256];
    int entry = threadIdx.x;
    for (int b = 0; b < 8; ++b) entry = (entry << 1) ^ ((entry & 0x80) ? 0x107 : 0);
    table[threadIdx.x] = (unsigned char)entry;
    __syncthreads();
    for (int r = blockIdx.x * BLOCK + threadIdx.x; r < COUNT; r += gridDim.x * BLOCK) {
        const unsigned char* p = frames + (size_t)r * WIDTH;
        unsigned char reg = 0;
        for (int i = 0; i < WIDTH; ++i) reg = table[reg ^ p[i]];
        crc[r] = reg;
        intact[r] = reg == stored[r];
    }
}

int main() {
    const size_t n = COUNT * WIDTH;
    std::vector<unsigned char> h_frames(n);
    std::vector<unsigned char> h_stored(COUNT);
    std::vector<unsigned char> h_crc(COUNT);
    std::vector<unsigned char> h_intact(COUNT);

    std::ifstream in_frames("data/frames.bin", std::ios::binary);
    in_frames.read((char*)(h_frames.data()), n * sizeof(unsigned char));
    if (!in_frames) {
        std::cerr << "could not read data/frames.bin" << std::endl;
        return 1;
    }
    std::ifstream in_stored("data/stored.bin", std::ios::binary);
    in_stored.read((char*)(h_stored.data()), COUNT * sizeof(unsigned char));
    if (!in_stored) {
        std::cerr << "could not read data/stored.bin" << std::endl;
        return 1;
    }

    unsigned char *d_frames = nullptr, *d_stored = nullptr, *d_crc = nullptr, *d_intact = nullptr;
    cudaMalloc(&d_frames, n * sizeof(unsigned char));
    cudaMalloc(&d_stored, COUNT * sizeof(unsigned char));
    cudaMalloc(&d_crc, COUNT * sizeof(unsigned char));
    cudaMalloc(&d_intact, COUNT * sizeof(unsigned char));
    cudaMemcpy(d_frames, h_frames.data(), n * sizeof(unsigned char), cudaMemcpyHostToDevice);
    cudaMemcpy(d_stored, h_stored.data(), COUNT * sizeof(unsigned char), cudaMemcpyHostToDevice);

    int blocks = (COUNT + BLOCK - 1) / BLOCK;
    crc8_table<<<(blocks < 2048 ? blocks : 2048), BLOCK>>>(d_frames, d_stored, d_crc, d_intact);
    cudaError_t status = cudaDeviceSynchronize();
    if (status != cudaSuccess) {
        std::cerr << "kernel failed: " << cudaGetErrorString(status) << std::endl;
        return 1;
    }

    cudaMemcpy(h_crc.data(), d_crc, COUNT * sizeof(unsigned char), cudaMemcpyDeviceToHost);
    cudaMemcpy(h_intact.data(), d_intact, COUNT * sizeof(unsigned char), cudaMemcpyDeviceToHost);
    std::ofstream out_crc("data/crc.bin", std::ios::binary);
    out_crc.write((char*)(h_crc.data()), COUNT * sizeof(unsigned char));
    std::ofstream out_intact("data/intact.bin", std::ios::binary);
    out_intact.write((char*)(h_intact.data()), COUNT * sizeof(unsigned char));

    cudaFree(d_frames);
    cudaFree(d_stored);
    cudaFree(d_crc);
    cudaFree(d_intact);
    return 0;
}
