#include <cuda_runtime.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

__device__ uint8_t gf_multiply(uint8_t a, uint8_t b) {
    int product = 0, shifted = a;
    for (int bit = 0; bit < 8; bit++) {
        if (b >> bit & 1) product ^= shifted;
        shifted <<= 1;
        if (shifted & 0x100) shifted ^= 0x11d;
    }
    return (uint8_t)product;
}

__global__ void encode(const uint8_t *matrix, const uint8_t *shards, uint8_t *parity, int data_shards, int bytes) {
    int k = blockIdx.x * blockDim.x + threadIdx.x, r = blockIdx.y;
    if (k >= bytes) return;
    uint8_t sum = 0;
    for (int d = 0; d < data_shards; d++)
        sum ^= gf_multiply(matrix[r * data_shards + d], shards[(size_t)d * bytes + k]);
    parity[(size_t)r * bytes + k] = sum;
}

static void die(const char* what, const char* why) {
    fprintf(stderr, "%s: %s\n", what, why);
    exit(1);
}

static void cu(cudaError_t status, const char* what) {
    if (status != cudaSuccess) die(what, cudaGetErrorString(status));
}

static void* slurp(const char* path, size_t bytes) {
    void* data = malloc(bytes);
    FILE* file = fopen(path, "rb");
    if (!data || !file || fread(data, 1, bytes, file) != bytes || fgetc(file) != EOF) die(path, "wrong length");
    fclose(file);
    return data;
}

static void* upload(const char* path, size_t bytes) {
    void *host = slurp(path, bytes), *device = NULL;
    cu(cudaMalloc(&device, bytes), "cudaMalloc");
    cu(cudaMemcpy(device, host, bytes, cudaMemcpyHostToDevice), path);
    free(host);
    return device;
}

static void* reserve(size_t bytes) {
    void* device = NULL;
    cu(cudaMalloc(&device, bytes), "cudaMalloc");
    return device;
}

static void dump(const char* path, const void* device, size_t bytes) {
    void* host = malloc(bytes);
    if (!host) die(path, "out of memory");
    cu(cudaMemcpy(host, device, bytes, cudaMemcpyDeviceToHost), path);
    FILE* file = fopen(path, "wb");
    if (!file || fwrite(host, 1, bytes, file) != bytes || fclose(file) != 0) die(path, "cannot be written");
    free(host);
}

int main(void) {
    int *sizes = (int *)slurp("data/sizes.bin", 3 * sizeof(int));
    int data_shards = sizes[0], parity_shards = sizes[1], words = sizes[2];
    if (data_shards < 1 || data_shards > 64 || parity_shards < 1 || parity_shards > 32 || words < 1 || words > 1048576)
        die("data/sizes.bin", "out of range");
    size_t bytes = 4 * (size_t)words;
    uint8_t *matrix = (uint8_t *)upload("data/matrix.bin", (size_t)parity_shards * data_shards);
    uint8_t *shards = (uint8_t *)upload("data/shards.bin", data_shards * bytes);
    uint8_t *parity = (uint8_t *)reserve(parity_shards * bytes);
    dim3 grid((unsigned)((bytes + 255) / 256), parity_shards);
    encode<<<grid, 256>>>(matrix, shards, parity, data_shards, (int)bytes);
    cu(cudaGetLastError(), "launch");
    dump("data/parity.bin", parity, parity_shards * bytes);
    return 0;
}
