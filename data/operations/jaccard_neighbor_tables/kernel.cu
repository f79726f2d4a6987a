#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

void load_array(const char* path, void* dst, size_t num_bytes) {
    FILE* f = fopen(path, "rb");
    if (f == nullptr || fread(dst, 1, num_bytes, f) != num_bytes) {
        fprintf(stderr, "cannot read %s\n", path);
        exit(1);
    }
    fclose(f);
}

void save_array(const char* path, const void* dst, size_t num_bytes) {
    FILE* f = fopen(path, "wb");
    if (f == nullptr || fwrite(dst, 1, num_bytes, f) != num_bytes) {
        fprintf(stderr, "cannot write %s\n", path);
        exit(1);
    }
    fclose(f);
}
//@given

#define NODES 500
#define DEGREE 8
#define THREADS 128

// A block keeps the list of its vertex in shared memory; a warp takes one edge after the other.
__global__ void jaccard_block(const int* __restrict__ table, float* __restrict__ jaccard) {
    __shared__ int mine[DEGREE];
    const int v = blockIdx.x;
    const int lane = threadIdx.x & 31;
    for (int k = threadIdx.x; k < DEGREE; k += THREADS) mine[k] = table[v * DEGREE + k];
    __syncthreads();
    for (int k = threadIdx.x / 32; k < DEGREE; k += THREADS / 32) {
        const int* other = table + mine[k] * DEGREE;
        int both = 0;
        for (int j = lane; j < DEGREE; j += 32) {
            int wanted = other[j];
            for (int m = 0; m < DEGREE; ++m) both += mine[m] == wanted;
        }
        for (int step = 16; step > 0; step >>= 1) both += __shfl_down_sync(0xffffffff, both, step);
        if (lane == 0) jaccard[v * DEGREE + k] = (float)both / (float)(2 * DEGREE - both);
    }
}

int main() {
    int* table = new int[NODES * DEGREE];
    float* jaccard = new float[NODES * DEGREE];
    load_array("data/table.bin", table, NODES * DEGREE * sizeof(int));

    int* d_table;
    float* d_jaccard;
    cudaMalloc(&d_table, NODES * DEGREE * sizeof(int));
    cudaMemcpy(d_table, table, NODES * DEGREE * sizeof(int), cudaMemcpyHostToDevice);
    cudaMalloc(&d_jaccard, NODES * DEGREE * sizeof(float));

    jaccard_block<<<NODES, THREADS>>>(d_table, d_jaccard);
    cudaMemcpy(jaccard, d_jaccard, NODES * DEGREE * sizeof(float), cudaMemcpyDeviceToHost);

    save_array("data/jaccard.bin", jaccard, NODES * DEGREE * sizeof(float));

    cudaFree(d_table);
    cudaFree(d_jaccard);
    delete[] table;
    delete[] jaccard;
    return 0;
}
