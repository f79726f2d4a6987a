#include <fstream>
#include <iostream>
#include <vector>
#include <cuda_runtime.h>

#define N 20000
#define BLOCK 256
#define PARTS ((N + BLOCK - 1) / BLOCK)

__global__ void scan_parts(const unsigned int* words, unsigned int* prefix, unsigned int* totals) {
    __shared__ unsigned int s[BLOCK];
    int t = threadIdx.x;
    int i = blockIdx.x * BLOCK + t;
    s[t] = i < N ? words[i] : 0u;
    __syncthreads();
    for (int d = 1; d < BLOCK; d *= 2) {
        unsigned int other = t >= d ? s[t - d] : 0u;
        __syncthreads();
        s[t] ^= other;
        __syncthreads();
    }
    if (i < N) prefix[i] = s[t];
    if (t == BLOCK - 1) totals[blockIdx.x] = s[t];
}

// One block turns the totals into the value before each part.
__global__ void scan_totals(unsigned int* totals) {
    __shared__ unsigned int s[BLOCK];
    int t = threadIdx.x;
    int span = (PARTS + BLOCK - 1) / BLOCK;
    int begin = min(t * span, PARTS), end = min(begin + span, PARTS);
    unsigned int x = 0;
    for (int k = begin; k < end; ++k) x ^= totals[k];
    s[t] = x;
    __syncthreads();
    unsigned int before = 0;
    for (int k = 0; k < t; ++k) before ^= s[k];
    for (int k = begin; k < end; ++k) {
        unsigned int own = totals[k];
        totals[k] = before;
        before ^= own;
    }
}

__global__ void add_before(unsigned int* prefix, const unsigned int* totals) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    if (i < N) prefix[i] ^= totals[blockIdx.x];
}

int main() {
    std::vector<unsigned int> h_words(N);
    std::vector<unsigned int> h_prefix(N);

    std::ifstream in("data/words.bin", std::ios::binary);
    in.read((char*)h_words.data(), N * sizeof(unsigned int));
    if (!in) {
        std::cerr << "Could not read data/words.bin" << std::endl;
        return 1;
    }

    unsigned int *d_words, *d_prefix;
    unsigned int* d_totals;
    cudaMalloc(&d_words, N * sizeof(unsigned int));
    cudaMalloc(&d_prefix, N * sizeof(unsigned int));
    cudaMalloc(&d_totals, PARTS * sizeof(unsigned int));
    cudaMemcpy(d_words, h_words.data(), N * sizeof(unsigned int), cudaMemcpyHostToDevice);

    scan_parts<<<PARTS, BLOCK>>>(d_words, d_prefix, d_totals);
    scan_totals<<<1, BLOCK>>>(d_totals);
    add_before<<<PARTS, BLOCK>>>(d_prefix, d_totals);
    cudaError_t status = cudaDeviceSynchronize();
    if (status != cudaSuccess) {
        std::cerr << "Kernel failed: " << cudaGetErrorString(status) << std::endl;
        return 1;
    }
    cudaMemcpy(h_prefix.data(), d_prefix, N * sizeof(unsigned int), cudaMemcpyDeviceToHost);

    std::ofstream fout("data/prefix.bin", std::ios::binary);
    fout.write((char*)h_prefix.data(), N * sizeof(unsigned int));
    fout.close();

    cudaFree(d_words);
    cudaFree(d_prefix);
    cudaFree(d_totals);
    return 0;
}
