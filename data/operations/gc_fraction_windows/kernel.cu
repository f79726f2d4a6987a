#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

#define GENOMES 5
#define LENGTH 3000
#define CK(call)                                                                         \
    do {                                                                                 \
        cudaError_t err = (call);                                                        \
        if (err != cudaSuccess) {                                                        \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(err)); \
            exit(1);                                                                     \
        }                                                                                \
    } while (0)

const int WINDOWS = (LENGTH - 200) / 25 + 1;
const int TILE = 128;
const int PIECES = TILE + 7;

// A window is eight pieces of 25 letters. Each piece is counted once; strong letters count 1, valid letters 256.
__global__ void gc_pieces(const unsigned char* __restrict__ genome, float* __restrict__ gc) {
    __shared__ int count[PIECES];
    const int first = blockIdx.x * TILE;
    const unsigned char* row = genome + (size_t)blockIdx.y * LENGTH;
    for (int j = threadIdx.x; j < PIECES; j += TILE) {
        const int start = (first + j) * 25;
        int n = 0;
        for (int k = start; k < min(start + 25, LENGTH); ++k) {
            const unsigned char base = row[k];
            n += (base == 'G' || base == 'C') + 256 * (base != 'N');
        }
        count[j] = n;
    }
    __syncthreads();
    const int w = first + threadIdx.x;
    if (w >= WINDOWS) return;
    int n = 0;
    for (int j = 0; j < 8; ++j) n += count[threadIdx.x + j];
    const int valid = n >> 8, strong = n & 255;
    gc[blockIdx.y * WINDOWS + w] = valid > 0 ? (float)strong / valid : -1.0f;
}

int main() {
    unsigned char* genome = (unsigned char*)malloc(sizeof(unsigned char) * GENOMES * LENGTH);
    float* gc = (float*)malloc(sizeof(float) * GENOMES * WINDOWS);

    FILE* in_genome = fopen("data/genome.bin", "rb");
    if (!in_genome || fread(genome, sizeof(unsigned char), GENOMES * LENGTH,
            in_genome) != (size_t)(GENOMES * LENGTH)) {
        fprintf(stderr, "data/genome.bin: read error\n");
        return 1;
    }
    fclose(in_genome);

    unsigned char* d_genome;
    CK(cudaMalloc(&d_genome, sizeof(unsigned char) * GENOMES * LENGTH));
    float* d_gc;
    CK(cudaMalloc(&d_gc, sizeof(float) * GENOMES * WINDOWS));
    CK(cudaMemcpy(d_genome, genome, sizeof(unsigned char) * GENOMES * LENGTH, cudaMemcpyHostToDevice));

    dim3 grid((WINDOWS + TILE - 1) / TILE, GENOMES);
    gc_pieces<<<grid, TILE>>>(d_genome, d_gc);
    CK(cudaGetLastError());

    CK(cudaMemcpy(gc, d_gc, sizeof(float) * GENOMES * WINDOWS, cudaMemcpyDeviceToHost));
    FILE* out = fopen("data/gc.bin", "wb");
    if (!out || fwrite(gc, sizeof(float), GENOMES * WINDOWS, out) != (size_t)(GENOMES * WINDOWS)) {
        fprintf(stderr, "cannot write data/gc.bin\n");
        return 1;
    }
    fclose(out);

    cudaFree(d_genome);
    cudaFree(d_gc);
    free(genome);
    free(gc);
    return 0;
}
