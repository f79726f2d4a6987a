#include <cuda_runtime.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

__constant__ int thresholds[64];  // 255 times the matrix

__device__ int quantise(int gray, int levels, int threshold) {
    return (gray * (levels - 1) * 64 + threshold) / (255 * 64);
}

__global__ void dither(const uint8_t *gray, uint8_t *packed, int height, int width, int levels) {
    int k = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    int bytes = (width + 1) / 2;
    if (k >= bytes || y >= height) return;
    const uint8_t *row = gray + (size_t)y * width;
    const int *t = thresholds + y % 8 * 8;
    int x = 2 * k;
    int low = quantise(row[x], levels, t[x % 8]);
    int high = x + 1 < width ? quantise(row[x + 1], levels, t[(x + 1) % 8]) : 0;
    packed[(size_t)y * bytes + k] = (uint8_t)(low | high << 4);
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

static void make_thresholds(int table[64]) {
    int offset[2][2] = {{0, 2}, {3, 1}};
    for (int y = 0; y < 8; y++) {
        for (int x = 0; x < 8; x++) {
            int value = 0;
            // the first doubling decides the lowest bit of a position, and is multiplied by 4 twice
            for (int bit = 0; bit < 3; bit++) value = 4 * value + offset[y >> bit & 1][x >> bit & 1];
            table[8 * y + x] = 255 * value;
        }
    }
}

int main(void) {
    int *sizes = (int *)slurp("data/sizes.bin", 3 * sizeof(int));
    int height = sizes[0], width = sizes[1], levels = sizes[2];
    if (height < 1 || height > 16384 || width < 1 || width > 16384) die("data/sizes.bin", "image out of range");
    if (levels < 2 || levels > 16) die("data/sizes.bin", "levels out of range");
    int table[64];
    make_thresholds(table);
    cu(cudaMemcpyToSymbol(thresholds, table, sizeof(table)), "thresholds");

    size_t bytes = (size_t)height * ((width + 1) / 2);
    uint8_t *gray = (uint8_t *)upload("data/gray.bin", (size_t)height * width);
    uint8_t *packed = (uint8_t *)reserve(bytes);
    dim3 block(64, 4), grid(((width + 1) / 2 + 63) / 64, (height + 3) / 4);
    dither<<<grid, block>>>(gray, packed, height, width, levels);
    cu(cudaGetLastError(), "launch");
    dump("data/packed.bin", packed, bytes);
    return 0;
}
