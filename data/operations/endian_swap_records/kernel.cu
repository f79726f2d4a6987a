#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

void read_binary(const char* path, void* data, size_t bytes) {
    FILE* f = fopen(path, "rb");
    if (!f || fread(data, 1, bytes, f) != bytes) {
        fprintf(stderr, "cannot read %s\n", path);
        exit(1);
    }
    fclose(f);
}

void write_binary(const char* path, const void* data, size_t bytes) {
    FILE* f = fopen(path, "wb");
    if (!f || fwrite(data, 1, bytes, f) != bytes) {
        fprintf(stderr, "cannot write %s\n", path);
        exit(1);
    }
    fclose(f);
}
//@given

#define RECORDS 2000
#define BLOCK 192

static int div_up(int a, int b) { return (a + b - 1) / b; }

// Packets are read as 32-bit words, coalesced into shared memory; __byte_perm turns a word round.
__global__ void unpack_columns(const unsigned int* __restrict__ words, unsigned int* __restrict__ ids,
                               int* __restrict__ kinds,
                               int* __restrict__ offsets, float* __restrict__ values) {
    __shared__ unsigned int tile[3 * BLOCK];
    int first = blockIdx.x * BLOCK;
    int here = min(BLOCK, RECORDS - first);
    for (int k = threadIdx.x; k < 3 * here; k += BLOCK) {
        tile[k] = __byte_perm(words[3 * first + k], 0, 0x0123);
    }
    __syncthreads();
    int t = threadIdx.x;
    if (t >= here) return;
    unsigned int middle = tile[3 * t + 1];
    ids[first + t] = tile[3 * t];
    kinds[first + t] = (int)(middle >> 16);
    offsets[first + t] = (int)(middle << 16) >> 16;
    values[first + t] = __uint_as_float(tile[3 * t + 2]);
}

int main() {
    const size_t total = (size_t)RECORDS * 12;
    const size_t bytes_packets = total * sizeof(unsigned char);
    const size_t bytes_ids = RECORDS * sizeof(unsigned int);
    const size_t bytes_kinds = RECORDS * sizeof(int);
    const size_t bytes_offsets = RECORDS * sizeof(int);
    const size_t bytes_values = RECORDS * sizeof(float);
    unsigned char* h_packets = (unsigned char*)malloc(bytes_packets);
    unsigned int* h_ids = (unsigned int*)malloc(bytes_ids);
    int* h_kinds = (int*)malloc(bytes_kinds);
    int* h_offsets = (int*)malloc(bytes_offsets);
    float* h_values = (float*)malloc(bytes_values);
    read_binary("data/packets.bin", h_packets, bytes_packets);

    unsigned char *d_packets;
    unsigned int *d_ids;
    int *d_kinds, *d_offsets;
    float *d_values;
    cudaMalloc(&d_packets, bytes_packets);
    cudaMalloc(&d_ids, bytes_ids);
    cudaMalloc(&d_kinds, bytes_kinds);
    cudaMalloc(&d_offsets, bytes_offsets);
    cudaMalloc(&d_values, bytes_values);
    cudaMemcpy(d_packets, h_packets, bytes_packets, cudaMemcpyHostToDevice);

    int grid = div_up(RECORDS, BLOCK);
    unpack_columns<<<grid, BLOCK>>>((const unsigned int*)d_packets, d_ids, d_kinds, d_offsets, d_values);

    cudaMemcpy(h_ids, d_ids, bytes_ids, cudaMemcpyDeviceToHost);
    cudaMemcpy(h_kinds, d_kinds, bytes_kinds, cudaMemcpyDeviceToHost);
    cudaMemcpy(h_offsets, d_offsets, bytes_offsets, cudaMemcpyDeviceToHost);
    cudaMemcpy(h_values, d_values, bytes_values, cudaMemcpyDeviceToHost);
    if (cudaGetLastError() != cudaSuccess) {
        fprintf(stderr, "GPU error\n");
        return 1;
    }
    write_binary("data/ids.bin", h_ids, bytes_ids);
    write_binary("data/kinds.bin", h_kinds, bytes_kinds);
    write_binary("data/offsets.bin", h_offsets, bytes_offsets);
    write_binary("data/values.bin", h_values, bytes_values);

    cudaFree(d_packets);
    cudaFree(d_ids);
    cudaFree(d_kinds);
    cudaFree(d_offsets);
    cudaFree(d_values);
    free(h_packets);
    free(h_ids);
    free(h_kinds);
    free(h_offsets);
    free(h_values);
    return 0;
}
