#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>
#include <cuda_runtime.h>

void readData(const std::string& path, uint8_t* data, size_t count) {
    std::ifstream in(path, std::ios::binary);
    in.read(reinterpret_cast<char*>(data), count * sizeof(uint8_t));
    if (!in) {
        std::cerr << "cannot read " << path << "\n";
        std::exit(1);
    }
}

void writeData(const std::string& path, const uint32_t* data, size_t count) {
    std::ofstream out(path, std::ios::binary);
    out.write(reinterpret_cast<const char*>(data), count * sizeof(uint32_t));
}
//@given

const int ROWS = 60;
const int WIDTH = 700;
const int BLOCK = 256;

// One block a row: a = 1 + sum of d[i], b = WIDTH + sum of (WIDTH - i) * d[i].
__global__ void adler32_parallel(const uint8_t* __restrict__ data, uint32_t* __restrict__ checksum) {
    __shared__ unsigned long long plain[BLOCK], weighted[BLOCK];
    const uint8_t* row = data + (size_t)blockIdx.x * WIDTH;
    const int t = threadIdx.x;
    unsigned long long s = 0, w = 0;
    for (int i = t; i < WIDTH; i += BLOCK) {
        unsigned int d = row[i];
        s += d;
        w += (unsigned long long)d * (WIDTH - i);
    }
    plain[t] = s;
    weighted[t] = w;
    __syncthreads();
    for (int half = BLOCK / 2; half > 0; half /= 2) {
        if (t < half) {
            plain[t] += plain[t + half];
            weighted[t] += weighted[t + half];
        }
        __syncthreads();
    }
    if (t == 0) {
        uint32_t a = (uint32_t)((1 + plain[0]) % 65521);
        uint32_t b = (uint32_t)((WIDTH + weighted[0]) % 65521);
        checksum[blockIdx.x] = b * 65536u + a;
    }
}

int main() {
    const size_t n = ROWS * WIDTH;
    uint8_t* h_blocks = new uint8_t[n];
    uint32_t* h_checksum = new uint32_t[ROWS];
    readData("data/blocks.bin", h_blocks, n);

    uint8_t* d_blocks;
    cudaMalloc(&d_blocks, n * sizeof(uint8_t));
    uint32_t* d_checksum;
    cudaMalloc(&d_checksum, ROWS * sizeof(uint32_t));
    cudaMemcpy(d_blocks, h_blocks, n * sizeof(uint8_t), cudaMemcpyHostToDevice);

    adler32_parallel<<<ROWS, BLOCK>>>(d_blocks, d_checksum);
    if (cudaDeviceSynchronize() != cudaSuccess) {
        std::cerr << cudaGetErrorString(cudaGetLastError()) << "\n";
        return 1;
    }

    cudaMemcpy(h_checksum, d_checksum, ROWS * sizeof(uint32_t), cudaMemcpyDeviceToHost);
    writeData("data/checksum.bin", h_checksum, ROWS);

    delete[] h_blocks;
    delete[] h_checksum;
    cudaFree(d_blocks);
    cudaFree(d_checksum);
    return 0;
}
