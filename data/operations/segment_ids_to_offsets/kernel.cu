#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

#define ITEMS 20000
#define SEGMENTS 3000

#define CHECK(expr)                                                                       \
    do {                                                                                  \
        cudaError_t code = (expr);                                                        \
        if (code != cudaSuccess) {                                                        \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(code)); \
            exit(1);                                                                      \
        }                                                                                 \
    } while (0)

// Position i is where all segments after ids[i - 1] and up to ids[i] begin.
__global__ void mark_starts(const int* __restrict__ ids, int* __restrict__ offsets) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i > ITEMS) return;
    int from = i == 0 ? 0 : ids[i - 1] + 1;
    int to = i == ITEMS ? SEGMENTS : ids[i];
    for (int s = from; s <= to; ++s) offsets[s] = i;
}

__global__ void count_excess(const int* __restrict__ offsets, const int* __restrict__ capacity,
                             int* __restrict__ excess) {
    int s = blockIdx.x * blockDim.x + threadIdx.x;
    if (s < SEGMENTS) excess[s] = max(0, offsets[s + 1] - offsets[s] - capacity[s]);
}

int main() {
    size_t total = SEGMENTS + 1;
    int* host_ids = (int*)malloc(ITEMS * sizeof(int));
    int* host_capacity = (int*)malloc(SEGMENTS * sizeof(int));
    int* host_offsets = (int*)malloc(total * sizeof(int));
    int* host_excess = (int*)malloc(SEGMENTS * sizeof(int));

    FILE* file = fopen("data/ids.bin", "rb");
    if (file == NULL || fread(host_ids, 1, ITEMS * sizeof(int), file) != ITEMS * sizeof(int)) {
        fprintf(stderr, "failed to read data/ids.bin\n");
        return 1;
    }
    fclose(file);
    file = fopen("data/capacity.bin", "rb");
    if (file == NULL || fread(host_capacity, 1, SEGMENTS * sizeof(int), file) != SEGMENTS * sizeof(int)) {
        fprintf(stderr, "failed to read data/capacity.bin\n");
        return 1;
    }
    fclose(file);

    int* d_ids;
    int* d_capacity;
    int* d_offsets;
    int* d_excess;
    CHECK(cudaMalloc(&d_ids, ITEMS * sizeof(int)));
    CHECK(cudaMalloc(&d_capacity, SEGMENTS * sizeof(int)));
    CHECK(cudaMalloc(&d_offsets, total * sizeof(int)));
    CHECK(cudaMalloc(&d_excess, SEGMENTS * sizeof(int)));
    CHECK(cudaMemcpy(d_ids, host_ids, ITEMS * sizeof(int), cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(d_capacity, host_capacity, SEGMENTS * sizeof(int), cudaMemcpyHostToDevice));

    const int block = 256;
    mark_starts<<<(ITEMS + 1 + block - 1) / block, block>>>(d_ids, d_offsets);
    count_excess<<<(SEGMENTS + block - 1) / block, block>>>(d_offsets, d_capacity, d_excess);
    CHECK(cudaGetLastError());
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaMemcpy(host_offsets, d_offsets, total * sizeof(int), cudaMemcpyDeviceToHost));
    CHECK(cudaMemcpy(host_excess, d_excess, SEGMENTS * sizeof(int), cudaMemcpyDeviceToHost));

    FILE* dst_file = fopen("data/offsets.bin", "wb");
    if (!dst_file || fwrite(host_offsets, sizeof(int), total, dst_file) != total) {
        fprintf(stderr, "cannot write data/offsets.bin\n");
        return 1;
    }
    fclose(dst_file);
    dst_file = fopen("data/excess.bin", "wb");
    if (!dst_file || fwrite(host_excess, sizeof(int), SEGMENTS, dst_file) != (size_t)SEGMENTS) {
        fprintf(stderr, "cannot write data/excess.bin\n");
        return 1;
    }
    fclose(dst_file);

    cudaFree(d_ids);
    cudaFree(d_capacity);
    cudaFree(d_offsets);
    cudaFree(d_excess);
    free(host_ids);
    free(host_capacity);
    free(host_offsets);
    free(host_excess);
    return 0;
}
