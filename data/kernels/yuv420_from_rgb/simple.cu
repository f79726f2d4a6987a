#include <cuda_runtime.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

__global__ void make_luma(const uint8_t *rgb, uint8_t *luma, size_t pixels) {
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= pixels) return;
    int r = rgb[3 * i], g = rgb[3 * i + 1], b = rgb[3 * i + 2];
    luma[i] = ((66 * r + 129 * g + 25 * b + 128) >> 8) + 16;
}

__global__ void make_chroma(const uint8_t *rgb, uint8_t *cb, uint8_t *cr, int rows, int columns) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= rows * columns) return;
    int y = i / columns, x = i % columns, mean[3];
    for (int c = 0; c < 3; c++) {
        int sum = 2;
        for (int k = 0; k < 4; k++) sum += rgb[((size_t)(2 * y + k / 2) * 2 * columns + 2 * x + k % 2) * 3 + c];
        mean[c] = sum >> 2;
    }
    cb[i] = ((-38 * mean[0] - 74 * mean[1] + 112 * mean[2] + 128) >> 8) + 128;
    cr[i] = ((112 * mean[0] - 94 * mean[1] - 18 * mean[2] + 128) >> 8) + 128;
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
    int *sizes = (int *)slurp("data/sizes.bin", 2 * sizeof(int));
    int rows = sizes[0], columns = sizes[1];
    if (rows < 1 || rows > 4096 || columns < 1 || columns > 4096) die("data/sizes.bin", "out of range");
    size_t blocks = (size_t)rows * columns;
    uint8_t *rgb = (uint8_t *)upload("data/rgb.bin", 12 * blocks);
    uint8_t *luma = (uint8_t *)reserve(4 * blocks);
    uint8_t *cb = (uint8_t *)reserve(blocks), *cr = (uint8_t *)reserve(blocks);
    make_luma<<<(unsigned)((4 * blocks + 255) / 256), 256>>>(rgb, luma, 4 * blocks);
    cu(cudaGetLastError(), "make_luma");
    make_chroma<<<(unsigned)((blocks + 255) / 256), 256>>>(rgb, cb, cr, rows, columns);
    cu(cudaGetLastError(), "make_chroma");
    dump("data/luma.bin", luma, 4 * blocks);
    dump("data/cb.bin", cb, blocks);
    dump("data/cr.bin", cr, blocks);
    return 0;
}
