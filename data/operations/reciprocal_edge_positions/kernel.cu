#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

#define NODES 500
#define ENTRIES 4000

#define CK(call) \
    do { \
        cudaError_t rc = (call); \
        if (rc != cudaSuccess) { \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(rc)); \
            exit(EXIT_FAILURE); \
        } \
    } while (0)

static void read_file(const char* path, void* dst, size_t bytes) {
    FILE* fp = fopen(path, "rb");
    if (!fp || fread(dst, 1, bytes, fp) != bytes) {
        fprintf(stderr, "error reading %s\n", path);
        exit(1);
    }
    fclose(fp);
}

static void write_file(const char* path, const void* src, size_t bytes) {
    FILE* fp = fopen(path, "wb");
    if (!fp || fwrite(src, 1, bytes, fp) != bytes) {
        fprintf(stderr, "cannot write %s\n", path);
        exit(1);
    }
    fclose(fp);
}

// First position in [low, high) that holds at least the wanted number.
__device__ int lower_bound(const int* list, int low, int high, int wanted) {
    while (low < high) {
        int middle = low + (high - low) / 2;
        if (list[middle] < wanted) low = middle + 1;
        else high = middle;
    }
    return low;
}

__global__ void reverse_search(const int* __restrict__ row_start, const int* __restrict__ neighbor,
                               int* __restrict__ reverse, int* mutual) {
    int k = blockIdx.x * blockDim.x + threadIdx.x;
    if (k >= ENTRIES) return;
    // The row of k is the last one that begins at or before k.
    int v = lower_bound(row_start, 0, NODES + 1, k + 1) - 1;
    int u = neighbor[k];
    int end = row_start[u + 1];
    int at = lower_bound(neighbor, row_start[u], end, v);
    bool found = at < end && neighbor[at] == v;
    reverse[k] = found ? at : -1;
    if (found) atomicAdd(&mutual[v], 1);
}

int main(void) {
    int* row_start = (int*)malloc((NODES + 1) * sizeof(int));
    int* neighbor = (int*)malloc(ENTRIES * sizeof(int));
    int* reverse = (int*)malloc(ENTRIES * sizeof(int));
    int* mutual = (int*)malloc(NODES * sizeof(int));
    read_file("data/row_start.bin", row_start, (NODES + 1) * sizeof(int));
    read_file("data/neighbor.bin", neighbor, ENTRIES * sizeof(int));

    int *d_row_start, *d_neighbor, *d_reverse, *d_mutual;
    CK(cudaMalloc(&d_row_start, (NODES + 1) * sizeof(int)));
    CK(cudaMalloc(&d_neighbor, ENTRIES * sizeof(int)));
    CK(cudaMalloc(&d_reverse, ENTRIES * sizeof(int)));
    CK(cudaMalloc(&d_mutual, NODES * sizeof(int)));
    CK(cudaMemcpy(d_row_start, row_start, (NODES + 1) * sizeof(int), cudaMemcpyHostToDevice));
    CK(cudaMemcpy(d_neighbor, neighbor, ENTRIES * sizeof(int), cudaMemcpyHostToDevice));

    CK(cudaMemset(d_mutual, 0, NODES * sizeof(int)));
    reverse_search<<<(ENTRIES + 255) / 256, 256>>>(d_row_start, d_neighbor, d_reverse, d_mutual);
    CK(cudaGetLastError());
    CK(cudaMemcpy(reverse, d_reverse, ENTRIES * sizeof(int), cudaMemcpyDeviceToHost));
    CK(cudaMemcpy(mutual, d_mutual, NODES * sizeof(int), cudaMemcpyDeviceToHost));

    write_file("data/reverse.bin", reverse, ENTRIES * sizeof(int));
    write_file("data/mutual.bin", mutual, NODES * sizeof(int));

    cudaFree(d_row_start);
    cudaFree(d_neighbor);
    cudaFree(d_reverse);
    cudaFree(d_mutual);
    free(row_start);
    free(neighbor);
    free(reverse);
    free(mutual);
    return 0;
}
