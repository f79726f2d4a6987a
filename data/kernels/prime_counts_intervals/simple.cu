#include <cuda_runtime.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

__global__ void test_numbers(const int *starts, int width, int intervals, int *counts, int *smallest) {
    long long at = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (at >= (long long)intervals * width) return;
    int interval = (int)(at / width), number = starts[interval] + (int)(at % width);
    if (number < 2) return;
    for (int factor = 2; factor * factor <= number; factor++) {
        if (number % factor == 0) return;
    }
    atomicAdd(&counts[interval], 1);
    atomicMin((unsigned *)&smallest[interval], (unsigned)number);
}

__global__ void finish(int *smallest, const int *counts, int intervals) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < intervals && counts[i] == 0) smallest[i] = 0;
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
    int intervals = sizes[0], width = sizes[1];
    if (intervals < 1 || intervals > 65535 || width < 1 || width > 32768) die("data/sizes.bin", "out of range");
    size_t bytes = intervals * sizeof(int);
    int *host = (int *)slurp("data/starts.bin", bytes);
    for (int i = 0; i < intervals; i++) {
        if (host[i] < 0 || host[i] > 16777216) die("data/starts.bin", "out of range");
    }
    int *starts = (int *)upload("data/starts.bin", bytes);
    int *counts = (int *)reserve(bytes), *smallest = (int *)reserve(bytes);
    cu(cudaMemset(counts, 0, bytes), "clear");
    cu(cudaMemset(smallest, 0xff, bytes), "clear");
    long long numbers = (long long)intervals * width;
    test_numbers<<<(unsigned)((numbers + 255) / 256), 256>>>(starts, width, intervals, counts, smallest);
    cu(cudaGetLastError(), "test_numbers");
    finish<<<(intervals + 255) / 256, 256>>>(smallest, counts, intervals);
    cu(cudaGetLastError(), "finish");
    dump("data/counts.bin", counts, bytes);
    dump("data/smallest.bin", smallest, bytes);
    free(host);
    return 0;
}
