#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>
#include <cuda_runtime.h>

template <typename T>
void read_binary(const std::string& path, T* data, size_t count) {
    std::ifstream in(path, std::ios::binary);
    if (!in.is_open()) {
        std::cerr << "Cannot open " << path << std::endl;
        exit(1);
    }
    in.read(reinterpret_cast<char*>(data), count * sizeof(T));
}

template <typename T>
void write_binary(const std::string& path, const T* data, size_t count) {
    std::ofstream stream(path, std::ios::binary);
    stream.write(reinterpret_cast<const char*>(data), count * sizeof(T));
}
//@given

#define N 20000
#define SEGMENTS 150
#define BLOCK 128

__global__ void segment_xor(const unsigned int* words, const int* offsets, unsigned int* checksum) {
    __shared__ unsigned int part[BLOCK];
    int s = blockIdx.x;
    int t = threadIdx.x;
    int begin = offsets[s];
    int end = offsets[s + 1];
    unsigned int acc = 0;
    for (int i = begin + t; i < end; i += BLOCK) {
        unsigned int w = words[i];
        int k = (i - begin) % 32;
        if (k > 0) w = (w << k) | (w >> (32 - k));
        acc ^= w;
    }
    part[t] = acc;
    __syncthreads();
    for (int half = BLOCK / 2; half > 0; half /= 2) {
        if (t < half) part[t] ^= part[t + half];
        __syncthreads();
    }
    if (t == 0) checksum[s] = part[0];
}

int main() {
    const size_t count = (size_t)SEGMENTS + 1;
    unsigned int* h_words = new unsigned int[N];
    int* h_offsets = new int[count];
    unsigned int* h_checksum = new unsigned int[SEGMENTS];
    read_binary("data/words.bin", h_words, N);
    read_binary("data/offsets.bin", h_offsets, count);

    unsigned int* d_words = nullptr;
    unsigned int* d_checksum = nullptr;
    int* d_offsets = nullptr;
    cudaMalloc(&d_words, N * sizeof(unsigned int));
    cudaMalloc(&d_offsets, count * sizeof(int));
    cudaMalloc(&d_checksum, SEGMENTS * sizeof(unsigned int));
    cudaMemcpy(d_words, h_words, N * sizeof(unsigned int), cudaMemcpyHostToDevice);
    cudaMemcpy(d_offsets, h_offsets, count * sizeof(int), cudaMemcpyHostToDevice);

    segment_xor<<<SEGMENTS, BLOCK>>>(d_words, d_offsets, d_checksum);
    cudaError_t err = cudaGetLastError();
    if (err != cudaSuccess) {
        std::cerr << "launch: " << cudaGetErrorString(err) << std::endl;
        return 1;
    }

    cudaMemcpy(h_checksum, d_checksum, SEGMENTS * sizeof(unsigned int), cudaMemcpyDeviceToHost);
    write_binary("data/checksum.bin", h_checksum, SEGMENTS);

    cudaFree(d_words);
    cudaFree(d_offsets);
    cudaFree(d_checksum);
    delete[] h_words;
    delete[] h_offsets;
    delete[] h_checksum;
    return 0;
}
