#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

const int ROWS = 50;
const int LENGTH = 200;
const int GRAMS = LENGTH - 2;

__global__ void hash_trigrams(const int* tokens, unsigned int* hash, unsigned int* smallest) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= ROWS * GRAMS) return;
    int r = i / GRAMS;
    const int* t = tokens + r * LENGTH + i % GRAMS;
    unsigned int h = (unsigned int)t[0] * 1000003u;
    h = (h ^ (unsigned int)t[1]) * 1000003u;
    h ^= (unsigned int)t[2];
    h ^= h >> 15;
    h *= 2246822519u;
    h ^= h >> 13;
    hash[i] = h;
    atomicMin(&smallest[r], h);
}

int main() {
    int* h_tokens = (int*)malloc(ROWS * LENGTH * sizeof(int));
    unsigned int* h_hash = (unsigned int*)malloc(ROWS * GRAMS * sizeof(unsigned int));
    unsigned int* h_smallest = (unsigned int*)malloc(ROWS * sizeof(unsigned int));
    FILE* f = fopen("data/tokens.bin", "rb");
    if (!f || fread(h_tokens, sizeof(int), ROWS * LENGTH, f) != (size_t)(ROWS * LENGTH)) return 1;
    fclose(f);
    int *d_tokens;
    unsigned int *d_hash, *d_smallest;
    cudaMalloc(&d_tokens, ROWS * LENGTH * sizeof(int));
    cudaMalloc(&d_hash, ROWS * GRAMS * sizeof(unsigned int));
    cudaMalloc(&d_smallest, ROWS * sizeof(unsigned int));
    cudaMemcpy(d_tokens, h_tokens, ROWS * LENGTH * sizeof(int), cudaMemcpyHostToDevice);
    cudaMemset(d_smallest, 0xff, ROWS * sizeof(unsigned int));
    hash_trigrams<<<(ROWS * GRAMS + 255) / 256, 256>>>(d_tokens, d_hash, d_smallest);
    cudaMemcpy(h_hash, d_hash, ROWS * GRAMS * sizeof(unsigned int), cudaMemcpyDeviceToHost);
    cudaMemcpy(h_smallest, d_smallest, ROWS * sizeof(unsigned int), cudaMemcpyDeviceToHost);
    f = fopen("data/hash.bin", "wb");
    fwrite(h_hash, sizeof(unsigned int), ROWS * GRAMS, f);
    fclose(f);
    f = fopen("data/smallest.bin", "wb");
    fwrite(h_smallest, sizeof(unsigned int), ROWS, f);
    fclose(f);
    cudaFree(d_tokens);
    cudaFree(d_hash);
    cudaFree(d_smallest);
    return 0;
}
