#include <cuda_runtime.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

/* A thread per row; entry k of its list of tails lies at tails[k * rows + row]. */
__global__ void longest(const int *x, int *tails, int *lengths, int rows, int cols) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    int count = 0;
    for (int c = 0; c < cols; c++) {
        int v = x[(size_t)row * cols + c], low = 0, high = count;
        while (low < high) {
            int middle = (low + high) / 2;
            if (tails[(size_t)middle * rows + row] < v) low = middle + 1;
            else high = middle;
        }
        tails[(size_t)low * rows + row] = v;
        if (low == count) count++;
    }
    lengths[row] = count;
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
    int rows = sizes[0], cols = sizes[1];
    if (rows < 1 || rows > 65535 || cols < 1 || cols > 8192) die("data/sizes.bin", "out of range");
    size_t bytes = (size_t)rows * cols * sizeof(int);
    int *x = (int *)upload("data/x.bin", bytes), *tails = (int *)reserve(bytes);
    int *lengths = (int *)reserve(rows * sizeof(int));
    longest<<<(rows + 31) / 32, 32>>>(x, tails, lengths, rows, cols);
    cu(cudaGetLastError(), "launch");
    dump("data/lengths.bin", lengths, rows * sizeof(int));
    return 0;
}
