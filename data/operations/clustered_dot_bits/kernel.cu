#include <fstream>
#include <iostream>
#include <vector>
#include <cuda_runtime.h>

const int HEIGHT = 80;
const int WORDS = 7;

const int BLOCK = 128;

// A warp makes one word at a time by a vote over its 32 pixels; a block does one row.
__global__ void halftone_vote(const unsigned char* gray, unsigned int* bits, int* black) {
    __shared__ int counts[BLOCK / 32];
    const int order[16] = {12, 5, 6, 13, 4, 0, 1, 7, 11, 3, 2, 8, 15, 10, 9, 14};
    const int y = blockIdx.x, lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const int limit = 16 * order[(y & 3) * 4 + (lane & 3)] + 8;
    const unsigned char* row = gray + (size_t)y * WORDS * 32;
    int sum = 0;
    for (int w = warp; w < WORDS; w += BLOCK / 32) {
        unsigned int vote = __ballot_sync(0xffffffffu, row[w * 32 + lane] < limit);
        // lane 0 gives the lowest bit of the vote, but belongs to the highest one
        if (lane == 0) bits[(size_t)y * WORDS + w] = __brev(vote);
        sum += __popc(vote);
    }
    if (lane == 0) counts[warp] = sum;
    __syncthreads();
    if (threadIdx.x == 0) {
        int total = 0;
        for (int k = 0; k < BLOCK / 32; ++k) total += counts[k];
        black[y] = total;
    }
}

int main() {
    const size_t n_gray = HEIGHT * (WORDS * 32);
    const size_t n_bits = (size_t)HEIGHT * WORDS;
    std::vector<unsigned char> h_gray(n_gray);
    std::vector<unsigned int> h_bits(n_bits);
    std::vector<int> h_black(HEIGHT);
    std::ifstream in("data/gray.bin", std::ios::binary);
    in.read((char*)h_gray.data(), h_gray.size() * sizeof(unsigned char));
    if (!in) {
        std::cerr << "cannot read data/gray.bin\n";
        return 1;
    }

    unsigned char* d_gray;
    unsigned int* d_bits;
    int* d_black;
    cudaMalloc(&d_gray, n_gray * sizeof(unsigned char));
    cudaMalloc(&d_bits, n_bits * sizeof(unsigned int));
    cudaMalloc(&d_black, HEIGHT * sizeof(int));
    cudaMemcpy(d_gray, h_gray.data(), n_gray * sizeof(unsigned char), cudaMemcpyHostToDevice);

    halftone_vote<<<HEIGHT, BLOCK>>>(d_gray, d_bits, d_black);

    cudaError_t status = cudaGetLastError();
    if (status != cudaSuccess) {
        std::cerr << cudaGetErrorString(status) << std::endl;
        return 1;
    }

    cudaMemcpy(h_bits.data(), d_bits, n_bits * sizeof(unsigned int), cudaMemcpyDeviceToHost);
    cudaMemcpy(h_black.data(), d_black, HEIGHT * sizeof(int), cudaMemcpyDeviceToHost);
    std::ofstream bits_out("data/bits.bin", std::ios::binary);
    bits_out.write((const char*)h_bits.data(), h_bits.size() * sizeof(unsigned int));
    std::ofstream black_out("data/black.bin", std::ios::binary);
    black_out.write((const char*)h_black.data(), h_black.size() * sizeof(int));
    cudaFree(d_gray);
    cudaFree(d_bits);
    cudaFree(d_black);
    return 0;
}
