#include <stdio.h>
#include <stdlib.h>
#include <cuda_runtime.h>

#define CHECK_CUDA(call)                                                             \
    do {                                                                             \
        const cudaError_t e = (call);                                                \
        if (e) {                                                                     \
            fprintf(stderr, "%s failed: %s\n", #call, cudaGetErrorString(e));        \
            exit(2);                                                                 \
        }                                                                            \
    } while (0)

#define BATCH 20
#define ROW_WORDS 4
#define COL_WORDS 9

// One thread per word of the result.
__global__ void bit_product(const unsigned int* matrix, const unsigned int* x, unsigned int* y) {
    int idx = blockIdx.x * blockDim.x + threadIdx.x;
    if (idx >= BATCH * ROW_WORDS) return;
    int b = idx / ROW_WORDS;
    int w = idx % ROW_WORDS;
    unsigned int word = 0;
    for (int bit = 0; bit < 32; ++bit) {
        const unsigned int* row = matrix + (w * 32 + bit) * COL_WORDS;
        unsigned int acc = 0;
        for (int k = 0; k < COL_WORDS; ++k) acc ^= row[k] & x[b * COL_WORDS + k];
        if (__popc(acc) & 1) word |= 1u << bit;
    }
    y[idx] = word;
}

static void read_file(const char* path, void* dst, size_t bytes) {
    FILE* f = fopen(path, "rb");
    if (!f || fread(dst, 1, bytes, f) != bytes) {
        fprintf(stderr, "bad input file %s\n", path);
        exit(1);
    }
    fclose(f);
}

static void write_file(const char* path, const void* src, size_t bytes) {
    FILE* f = fopen(path, "wb");
    if (!f || fwrite(src, 1, bytes, f) != bytes) {
        fprintf(stderr, "cannot write %s\n", path);
        exit(1);
    }
    fclose(f);
}

int main() {
    unsigned int* matrix = (unsigned int*)malloc(sizeof(unsigned int) * ROW_WORDS * 32 * COL_WORDS);
    unsigned int* x = (unsigned int*)malloc(sizeof(unsigned int) * BATCH * COL_WORDS);
    unsigned int* y = (unsigned int*)malloc(sizeof(unsigned int) * BATCH * ROW_WORDS);
    read_file("data/matrix.bin", matrix, sizeof(unsigned int) * ROW_WORDS * 32 * COL_WORDS);
    read_file("data/x.bin", x, sizeof(unsigned int) * BATCH * COL_WORDS);

    unsigned int *d_matrix, *d_x, *d_y;
    CHECK_CUDA(cudaMalloc(&d_matrix, sizeof(unsigned int) * ROW_WORDS * 32 * COL_WORDS));
    CHECK_CUDA(cudaMalloc(&d_x, sizeof(unsigned int) * BATCH * COL_WORDS));
    CHECK_CUDA(cudaMalloc(&d_y, sizeof(unsigned int) * BATCH * ROW_WORDS));
    CHECK_CUDA(cudaMemcpy(d_matrix, matrix, sizeof(unsigned int) * ROW_WORDS * 32 * COL_WORDS,
            cudaMemcpyHostToDevice));
    CHECK_CUDA(cudaMemcpy(d_x, x, sizeof(unsigned int) * BATCH * COL_WORDS, cudaMemcpyHostToDevice));

    const int total = BATCH * ROW_WORDS;
    bit_product<<<(total + 127) / 128, 128>>>(d_matrix, d_x, d_y);
    CHECK_CUDA(cudaGetLastError());
    CHECK_CUDA(cudaDeviceSynchronize());

    CHECK_CUDA(cudaMemcpy(y, d_y, sizeof(unsigned int) * BATCH * ROW_WORDS, cudaMemcpyDeviceToHost));
    write_file("data/y.bin", y, sizeof(unsigned int) * BATCH * ROW_WORDS);

    cudaFree(d_matrix);
    cudaFree(d_x);
    cudaFree(d_y);
    free(matrix);
    free(x);
    free(y);
    return 0;
}
