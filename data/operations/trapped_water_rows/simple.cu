#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

#define ROWS 60
#define COLS 400

#define checkCudaErrors(call) \
    do { \
        cudaError_t err = (call); \
        if (err != cudaSuccess) { \
            fprintf(stderr, "CUDA: %s (%s:%d)\n", cudaGetErrorString(err), __FILE__, __LINE__); \
            exit(EXIT_FAILURE); \
        } \
    } while (0)

static void read_input(const char* path, void* dst, size_t bytes) {
    FILE* f = fopen(path, "rb");
    if (!f || fread(dst, 1, bytes, f) != bytes) {
        fprintf(stderr, "cannot read %s\n", path);
        exit(1);
    }
    fclose(f);
}

static void write_output(const char* path, const void* src, size_t bytes) {
    FILE* f = fopen(path, "wb");
    if (!f || fwrite(src, 1, bytes, f) != bytes) {
        fprintf(stderr, "cannot write %s\n", path);
        exit(1);
    }
    fclose(f);
}

__global__ void trapped_water(const int* height, int* water, long long* held) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= ROWS) return;
    const int* h = height + (size_t)r * COLS;
    int* w = water + (size_t)r * COLS;
    int left = 0;
    for (int c = 0; c < COLS; ++c) {
        left = max(left, h[c]);
        w[c] = left;
    }
    int right = 0;
    long long sum = 0;
    for (int c = COLS - 1; c >= 0; --c) {
        right = max(right, h[c]);
        w[c] = min(w[c], right) - h[c];
        sum += w[c];
    }
    held[r] = sum;
}

int main() {
    const int total = ROWS * COLS;
    int* host_height = (int*)malloc(total * sizeof(int));
    int* host_water = (int*)malloc(total * sizeof(int));
    long long* host_held = (long long*)malloc(ROWS * sizeof(long long));
    read_input("data/height.bin", host_height, total * sizeof(int));

    int *dev_height, *dev_water;
    long long* dev_held;
    checkCudaErrors(cudaMalloc(&dev_height, total * sizeof(int)));
    checkCudaErrors(cudaMalloc(&dev_water, total * sizeof(int)));
    checkCudaErrors(cudaMalloc(&dev_held, ROWS * sizeof(long long)));
    checkCudaErrors(cudaMemcpy(dev_height, host_height, total * sizeof(int), cudaMemcpyHostToDevice));

    trapped_water<<<(ROWS + 32 - 1) / 32, 32>>>(dev_height, dev_water, dev_held);
    checkCudaErrors(cudaGetLastError());
    checkCudaErrors(cudaMemcpy(host_water, dev_water, total * sizeof(int), cudaMemcpyDeviceToHost));
    checkCudaErrors(cudaMemcpy(host_held, dev_held, ROWS * sizeof(long long), cudaMemcpyDeviceToHost));

    write_output("data/water.bin", host_water, total * sizeof(int));
    write_output("data/held.bin", host_held, ROWS * sizeof(long long));

    cudaFree(dev_height);
    cudaFree(dev_water);
    cudaFree(dev_held);
    free(host_height);
    free(host_water);
    free(host_held);
    return 0;
}
