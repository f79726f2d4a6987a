#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

#define QUERIES 24
#define CODES 300
#define WORDS 4

#define CUDA_CHECK(x)                                                                     \
    do {                                                                                  \
        cudaError_t code = (x);                                                           \
        if (code != cudaSuccess) {                                                        \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(code)); \
            exit(EXIT_FAILURE);                                                           \
        }                                                                                 \
    } while (0)

__global__ void hamming(const uint32_t* queries, const uint32_t* base, int* distance) {
    int c = blockIdx.x * blockDim.x + threadIdx.x;
    int q = blockIdx.y;
    if (c >= CODES) return;
    int sum = 0;
    for (int w = 0; w < WORDS; ++w) {
        sum += __popc(queries[q * WORDS + w] ^ base[c * WORDS + w]);
    }
    distance[(size_t)q * CODES + c] = sum;
}

int main(void) {
    const size_t n_query_bits = QUERIES * WORDS;
    const size_t n_base_bits = (size_t)CODES * WORDS;
    const size_t n_distance = (size_t)QUERIES * CODES;
    uint32_t* h_query_bits = (uint32_t*)malloc(n_query_bits * sizeof(uint32_t));
    uint32_t* h_base_bits = (uint32_t*)malloc(n_base_bits * sizeof(uint32_t));
    int* h_distance = (int*)malloc(n_distance * sizeof(int));

    FILE* fp = fopen("data/query_bits.bin", "rb");
    if (!fp || fread(h_query_bits, sizeof(uint32_t), n_query_bits, fp) != n_query_bits) {
        fprintf(stderr, "cannot read data/query_bits.bin\n");
        return 1;
    }
    fclose(fp);
    fp = fopen("data/base_bits.bin", "rb");
    if (!fp || fread(h_base_bits, sizeof(uint32_t), n_base_bits, fp) != n_base_bits) {
        fprintf(stderr, "cannot read data/base_bits.bin\n");
        return 1;
    }
    fclose(fp);

    uint32_t *d_query_bits, *d_base_bits;
    int *d_distance;
    CUDA_CHECK(cudaMalloc(&d_query_bits, n_query_bits * sizeof(uint32_t)));
    CUDA_CHECK(cudaMalloc(&d_base_bits, n_base_bits * sizeof(uint32_t)));
    CUDA_CHECK(cudaMalloc(&d_distance, n_distance * sizeof(int)));
    CUDA_CHECK(cudaMemcpy(d_query_bits, h_query_bits, n_query_bits * sizeof(uint32_t), cudaMemcpyHostToDevice));
    CUDA_CHECK(cudaMemcpy(d_base_bits, h_base_bits, n_base_bits * sizeof(uint32_t), cudaMemcpyHostToDevice));

    dim3 block(256);
    dim3 grid((CODES + 256 - 1) / 256, QUERIES);
    hamming<<<grid, block>>>(d_query_bits, d_base_bits, d_distance);
    CUDA_CHECK(cudaGetLastError());
    CUDA_CHECK(cudaMemcpy(h_distance, d_distance, n_distance * sizeof(int), cudaMemcpyDeviceToHost));

    fp = fopen("data/distance.bin", "wb");
    if (!fp) return 1;
    fwrite(h_distance, sizeof(int), n_distance, fp);
    fclose(fp);

    cudaFree(d_query_bits);
    cudaFree(d_base_bits);
    cudaFree(d_distance);
    free(h_query_bits);
    free(h_base_bits);
    free(h_distance);
    return 0;
}
