#include <cstdio>
#include <cuda_runtime.h>

#define GRAPHS 30
#define SIZE 24
#define WORDS ((SIZE + 31) / 32)
#define BLOCK 128

// Rows become bit masks in shared memory; the pairs of joined vertices are shared among the threads.
__global__ void count_by_masks(const unsigned char* __restrict__ adjacency, int* triangles, int* wedges) {
    __shared__ unsigned int mask[SIZE][WORDS];
    __shared__ int total[2];
    const unsigned char* a = adjacency + (size_t)blockIdx.x * SIZE * SIZE;
    if (threadIdx.x < 2) total[threadIdx.x] = 0;
    for (int i = threadIdx.x; i < SIZE * WORDS; i += BLOCK) {
        int row = i / WORDS, first = i % WORDS * 32;
        unsigned int bits = 0;
        for (int b = 0; b < 32 && first + b < SIZE; ++b) bits |= (unsigned int)a[row * SIZE + first + b] << b;
        mask[row][i % WORDS] = bits;
    }
    __syncthreads();
    int corners = 0, paths = 0;
    for (int p = threadIdx.x; p < SIZE * SIZE; p += BLOCK) {
        int i = p / SIZE, j = p % SIZE;
        bool joined = mask[i][j / 32] >> (j % 32) & 1u;
        if (j < i || (j > i && !joined)) continue;
        int common = 0;
        for (int w = 0; w < WORDS; ++w) common += __popc(mask[i][w] & mask[j][w]);
        if (i == j) paths += common * (common - 1) / 2;
        else corners += common;
    }
    atomicAdd(&total[0], corners);
    atomicAdd(&total[1], paths);
    __syncthreads();
    if (threadIdx.x == 0) {
        triangles[blockIdx.x] = total[0] / 3;
        wedges[blockIdx.x] = total[1];
    }
}

int main() {
    unsigned char* adjacency;
    int* triangles;
    int* wedges;

    cudaMallocManaged(&adjacency, GRAPHS * SIZE * SIZE * sizeof(unsigned char));
    cudaMallocManaged(&triangles, GRAPHS * sizeof(int));
    cudaMallocManaged(&wedges, GRAPHS * sizeof(int));

    FILE* in = fopen("data/adjacency.bin", "rb");
    if (!in || fread(adjacency, sizeof(unsigned char), GRAPHS * SIZE * SIZE, in) != GRAPHS * SIZE * SIZE) {
        fprintf(stderr, "cannot read data/adjacency.bin\n");
        return 1;
    }
    fclose(in);

    count_by_masks<<<GRAPHS, BLOCK>>>(adjacency, triangles, wedges);
    cudaError_t err = cudaDeviceSynchronize();
    if (err != cudaSuccess) {
        fprintf(stderr, "%s\n", cudaGetErrorString(err));
        return 1;
    }

    FILE* out = fopen("data/triangles.bin", "wb");
    fwrite(triangles, sizeof(int), GRAPHS, out);
    fclose(out);
    out = fopen("data/wedges.bin", "wb");
    fwrite(wedges, sizeof(int), GRAPHS, out);
    fclose(out);

    cudaFree(adjacency);
    cudaFree(triangles);
    cudaFree(wedges);
}
