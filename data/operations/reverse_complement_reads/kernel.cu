#include <fstream>
#include <iostream>
#include <vector>
#include <cuda_runtime.h>

const int READS = 100;
const int WIDTH = 150;

constexpr int WARPS = 8;

// One warp per read, a table for the complement, and ballots for the count of N.
__global__ void complement_reads(const unsigned char* __restrict__ bases, const int* __restrict__ lengths,
                                 unsigned char* __restrict__ complement, int* __restrict__ unknown) {
    __shared__ unsigned char table[256];
    table[threadIdx.x] = 'N';
    __syncthreads();
    if (threadIdx.x < 8) {
        const char from[] = "ACGTacgt", to[] = "TGCATGCA";
        table[(int)from[threadIdx.x]] = to[threadIdx.x];
    }
    __syncthreads();
    const int r = blockIdx.x * WARPS + threadIdx.x / 32;
    const int lane = threadIdx.x % 32;
    if (r >= READS) return;
    const size_t row = (size_t)r * WIDTH;
    const int length = lengths[r];
    int count = 0;
    for (int start = 0; start < WIDTH; start += 32) {
        const int i = start + lane;
        const unsigned char base = i < length ? table[bases[row + length - 1 - i]] : 0;
        count += __popc(__ballot_sync(0xffffffffu, base == 'N'));
        if (i < WIDTH) complement[row + i] = base;
    }
    if (lane == 0) unknown[r] = count;
}

void launch(const unsigned char* dev_bases, const int* dev_lengths,
            unsigned char* dev_complement, int* dev_unknown) {
    complement_reads<<<(READS + WARPS - 1) / WARPS, 256>>>(dev_bases, dev_lengths, dev_complement, dev_unknown);
}

int main() {
    std::vector<unsigned char> host_bases(READS * WIDTH);
    std::vector<int> host_lengths(READS);
    std::vector<unsigned char> host_complement(READS * WIDTH);
    std::vector<int> host_unknown(READS);
    std::ifstream file_bases("data/bases.bin", std::ios::binary);
    file_bases.read((char*)host_bases.data(), READS * WIDTH * sizeof(unsigned char));
    if (!file_bases) { std::cerr << "data/bases.bin: read error\n"; return 1; }
    std::ifstream file_lengths("data/lengths.bin", std::ios::binary);
    file_lengths.read((char*)host_lengths.data(), READS * sizeof(int));
    if (!file_lengths) { std::cerr << "data/lengths.bin: read error\n"; return 1; }

    unsigned char* d_bases = nullptr;
    cudaMalloc(&d_bases, READS * WIDTH * sizeof(unsigned char));
    int* d_lengths = nullptr;
    cudaMalloc(&d_lengths, READS * sizeof(int));
    unsigned char* d_complement = nullptr;
    cudaMalloc(&d_complement, READS * WIDTH * sizeof(unsigned char));
    int* d_unknown = nullptr;
    cudaMalloc(&d_unknown, READS * sizeof(int));
    cudaMemcpy(d_bases, host_bases.data(), READS * WIDTH * sizeof(unsigned char), cudaMemcpyHostToDevice);
    cudaMemcpy(d_lengths, host_lengths.data(), READS * sizeof(int), cudaMemcpyHostToDevice);

    launch(d_bases, d_lengths, d_complement, d_unknown);
    if (cudaDeviceSynchronize() != cudaSuccess) {
        std::cerr << "kernel failed\n";
        return 1;
    }

    cudaMemcpy(host_complement.data(), d_complement, READS * WIDTH * sizeof(unsigned char), cudaMemcpyDeviceToHost);
    cudaMemcpy(host_unknown.data(), d_unknown, READS * sizeof(int), cudaMemcpyDeviceToHost);
    std::ofstream out_complement("data/complement.bin", std::ios::binary);
    out_complement.write((char*)host_complement.data(), READS * WIDTH * sizeof(unsigned char));
    std::ofstream out_unknown("data/unknown.bin", std::ios::binary);
    out_unknown.write((char*)host_unknown.data(), READS * sizeof(int));
    cudaFree(d_bases);
    cudaFree(d_lengths);
    cudaFree(d_complement);
    cudaFree(d_unknown);
    return 0;
}
