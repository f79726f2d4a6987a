#include <stdio.h>
#include <stdlib.h>

#include <cuda_runtime.h>

#define CUDA_CALL(expr) do { cudaError_t status = (expr); if (status != cudaSuccess) { \
    fprintf(stderr, "%s failed: %s\n", #expr, cudaGetErrorString(status)); exit(EXIT_FAILURE); } } while (0)

#define N 20000

__global__ void reverse_and_count(const unsigned int* word, unsigned int* reversed, unsigned char* ones, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        unsigned int w = word[i];
        unsigned int r = 0;
        int count = 0, highest = -1, lowest = 32;
        for (int k = 0; k < 32; ++k) {
            if ((w >> k) & 1u) {
                r |= 1u << (31 - k);
                count++;
                highest = k;
                if (lowest == 32) lowest = k;
            }
        }
        if (count > 0 && highest - lowest <= 1) count += 128;
        reversed[i] = r;
        ones[i] = (unsigned char)count;
    }
}

int main() {
    unsigned int* h_word = (unsigned int*)malloc(N * sizeof(unsigned int));
    unsigned int* h_reversed = (unsigned int*)malloc(N * sizeof(unsigned int));
    unsigned char* h_ones = (unsigned char*)malloc(N * sizeof(unsigned char));

    FILE* fp = fopen("data/word.bin", "rb");
    if (!fp || fread(h_word, sizeof(unsigned int), N, fp) != (size_t)N) {
        fprintf(stderr, "cannot read data/word.bin\n");
        return 1;
    }
    fclose(fp);

    unsigned int *d_word, *d_reversed;
    unsigned char* d_ones;
    CUDA_CALL(cudaMalloc(&d_word, N * sizeof(unsigned int)));
    CUDA_CALL(cudaMalloc(&d_reversed, N * sizeof(unsigned int)));
    CUDA_CALL(cudaMalloc(&d_ones, N * sizeof(unsigned char)));
    CUDA_CALL(cudaMemcpy(d_word, h_word, N * sizeof(unsigned int), cudaMemcpyHostToDevice));

    const int threads = 256;
    const int blocks = (N + threads - 1) / threads;
    reverse_and_count<<<blocks, threads>>>(d_word, d_reversed, d_ones, N);
    CUDA_CALL(cudaGetLastError());
    CUDA_CALL(cudaMemcpy(h_reversed, d_reversed, N * sizeof(unsigned int), cudaMemcpyDeviceToHost));
    CUDA_CALL(cudaMemcpy(h_ones, d_ones, N * sizeof(unsigned char), cudaMemcpyDeviceToHost));

    fp = fopen("data/reversed.bin", "wb");
    if (!fp || fwrite(h_reversed, sizeof(unsigned int), N, fp) != (size_t)N) {
        fprintf(stderr, "cannot write data/reversed.bin\n");
        return 1;
    }
    fclose(fp);
    fp = fopen("data/ones.bin", "wb");
    if (!fp || fwrite(h_ones, sizeof(unsigned char), N, fp) != (size_t)N) {
        fprintf(stderr, "cannot write data/ones.bin\n");
        return 1;
    }
    fclose(fp);

    CUDA_CALL(cudaFree(d_word));
    CUDA_CALL(cudaFree(d_reversed));
    CUDA_CALL(cudaFree(d_ones));
    free(h_word);
    free(h_reversed);
    free(h_ones);
    return 0;
}
