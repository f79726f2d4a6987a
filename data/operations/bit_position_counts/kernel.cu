#include <cuda_runtime.h>
#include <fstream>
#include <iostream>
#include <vector>

const int ROWS = 30;
const int COLS = 900;
const int WARPS = 8;

// Lane k keeps the count of bit k: one ballot per bit tells which of 32 words have it.
__global__ void count_bits_ballot(const unsigned int* __restrict__ words, int* __restrict__ ones) {
    __shared__ int counts[WARPS][32];
    int lane = threadIdx.x & 31;
    int warp = threadIdx.x >> 5;
    const unsigned int* row = words + (size_t)blockIdx.x * COLS;
    int mine = 0;
    for (int base = warp * 32; base < COLS; base += WARPS * 32) {
        int c = base + lane;
        unsigned int w = c < COLS ? row[c] : 0u;
        for (int k = 0; k < 32; ++k) {
            unsigned int votes = __ballot_sync(0xffffffffu, (w >> k) & 1u);
            if (lane == k) mine += __popc(votes);
        }
    }
    counts[warp][lane] = mine;
    __syncthreads();
    if (warp == 0) {
        for (int k = 1; k < WARPS; ++k) mine += counts[k][lane];
        ones[blockIdx.x * 32 + lane] = mine;
    }
}

int main() {
    const int words_count = ROWS * COLS;
    const int ones_count = ROWS * 32;
    std::vector<unsigned int> h_words(words_count);
    std::vector<int> h_ones(ones_count);

    std::ifstream in("data/words.bin", std::ios::binary);
    in.read((char*)h_words.data(), words_count * sizeof(unsigned int));
    if (!in) {
        std::cerr << "Failed to read data/words.bin" << std::endl;
        return 1;
    }

    unsigned int* d_words;
    int* d_ones;
    cudaMalloc(&d_words, words_count * sizeof(unsigned int));
    cudaMalloc(&d_ones, ones_count * sizeof(int));
    cudaMemcpy(d_words, h_words.data(), words_count * sizeof(unsigned int), cudaMemcpyHostToDevice);

    count_bits_ballot<<<ROWS, 32 * WARPS>>>(d_words, d_ones);
    cudaError_t error = cudaDeviceSynchronize();
    if (error != cudaSuccess) {
        std::cerr << cudaGetErrorString(error) << std::endl;
        return 1;
    }
    cudaMemcpy(h_ones.data(), d_ones, ones_count * sizeof(int), cudaMemcpyDeviceToHost);

    std::ofstream fout("data/ones.bin", std::ios::binary);
    fout.write((char*)h_ones.data(), ones_count * sizeof(int));

    cudaFree(d_words);
    cudaFree(d_ones);
    return 0;
}
