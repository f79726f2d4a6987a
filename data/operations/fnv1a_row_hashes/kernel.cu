#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

const int ROWS = 400;
const int WIDTH = 60;
const int BLOCK = 64;
const int CHUNK = 32;

#define gpuErrchk(x)                                                                     \
    do {                                                                                 \
        cudaError_t err = (x);                                                           \
        if (err != cudaSuccess) {                                                        \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(err)); \
            exit(EXIT_FAILURE);                                                          \
        }                                                                                \
    } while (0)

// Columns are staged chunk by chunk, so that the loads of the block are contiguous; the odd pitch avoids conflicts.
__global__ void fnv1a_staged(const uint8_t* __restrict__ text, const int* __restrict__ lengths,
                             uint32_t* __restrict__ hashes, int* __restrict__ slots) {
    __shared__ uint8_t stage[BLOCK][CHUNK + 4];
    const int t = threadIdx.x;
    const int first = blockIdx.x * BLOCK;
    const int row = first + t;
    const int length = row < ROWS ? lengths[row] : 0;
    uint32_t hash = 2166136261u;
    for (int c0 = 0; c0 < WIDTH; c0 += CHUNK) {
        for (int k = t; k < BLOCK * CHUNK; k += BLOCK) {
            int r = k / CHUNK, c = k % CHUNK;
            if (first + r < ROWS && c0 + c < WIDTH) stage[r][c] = text[(size_t)(first + r) * WIDTH + c0 + c];
        }
        __syncthreads();
        int end = min(CHUNK, length - c0);
        for (int c = 0; c < end; ++c) {
            hash ^= stage[t][c];
            hash *= 16777619u;
        }
        __syncthreads();
    }
    if (row < ROWS) {
        hashes[row] = hash;
        slots[row] = (int)(hash % 10007u);
    }
}

int main(void) {
    const size_t total = ROWS * WIDTH;
    uint8_t* h_text = (uint8_t*)malloc(total * sizeof(uint8_t));
    int* h_lengths = (int*)malloc(ROWS * sizeof(int));
    uint32_t* h_hashes = (uint32_t*)malloc(ROWS * sizeof(uint32_t));
    int* h_slots = (int*)malloc(ROWS * sizeof(int));

    FILE* fp = fopen("data/text.bin", "rb");
    if (!fp || fread(h_text, sizeof(uint8_t), total, fp) != total) {
        fprintf(stderr, "cannot read data/text.bin\n");
        return 1;
    }
    fclose(fp);
    fp = fopen("data/lengths.bin", "rb");
    if (!fp || fread(h_lengths, sizeof(int), ROWS, fp) != (size_t)ROWS) {
        fprintf(stderr, "cannot read data/lengths.bin\n");
        return 1;
    }
    fclose(fp);

    uint8_t *d_text;
    int *d_lengths, *d_slots;
    uint32_t *d_hashes;
    gpuErrchk(cudaMalloc(&d_text, total * sizeof(uint8_t)));
    gpuErrchk(cudaMalloc(&d_lengths, ROWS * sizeof(int)));
    gpuErrchk(cudaMalloc(&d_hashes, ROWS * sizeof(uint32_t)));
    gpuErrchk(cudaMalloc(&d_slots, ROWS * sizeof(int)));
    gpuErrchk(cudaMemcpy(d_text, h_text, total * sizeof(uint8_t), cudaMemcpyHostToDevice));
    gpuErrchk(cudaMemcpy(d_lengths, h_lengths, ROWS * sizeof(int), cudaMemcpyHostToDevice));

    fnv1a_staged<<<(ROWS + BLOCK - 1) / BLOCK, BLOCK>>>(d_text, d_lengths, d_hashes, d_slots);
    gpuErrchk(cudaGetLastError());
    gpuErrchk(cudaMemcpy(h_hashes, d_hashes, ROWS * sizeof(uint32_t), cudaMemcpyDeviceToHost));
    gpuErrchk(cudaMemcpy(h_slots, d_slots, ROWS * sizeof(int), cudaMemcpyDeviceToHost));

    fp = fopen("data/hashes.bin", "wb");
    if (!fp) return 1;
    fwrite(h_hashes, sizeof(uint32_t), ROWS, fp);
    fclose(fp);
    fp = fopen("data/slots.bin", "wb");
    if (!fp) return 1;
    fwrite(h_slots, sizeof(int), ROWS, fp);
    fclose(fp);

    cudaFree(d_text);
    cudaFree(d_lengths);
    cudaFree(d_hashes);
    cudaFree(d_slots);
    free(h_text);
    free(h_lengths);
    free(h_hashes);
    free(h_slots);
    return 0;
}
