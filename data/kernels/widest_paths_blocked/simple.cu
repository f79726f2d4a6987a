#include <cuda_runtime.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

__global__ void start(int* width, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) width[(size_t)i * n + i] = INT_MAX;
}

// Allows vertex k as a stop on the way; row k and column k do not change in this step.
__global__ void allow(int* width, int n, int k) {
    int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y;
    if (j >= n) return;
    int through = min(width[(size_t)i * n + k], width[(size_t)k * n + j]);
    if (through > width[(size_t)i * n + j]) width[(size_t)i * n + j] = through;
}

static void must(int good, const char* what) {
    if (!good) {
        fprintf(stderr, "%s\n", what);
        exit(1);
    }
}

static void cuda(cudaError_t e) { must(e == cudaSuccess, cudaGetErrorString(e)); }

static void readInts(const char* path, int* values, size_t count) {
    FILE* f = fopen(path, "rb");
    must(f && values && fread(values, sizeof(int), count, f) == count && fgetc(f) == EOF, path);
    fclose(f);
}

int main(void) {
    int n, *dWidth;
    readInts("data/sizes.bin", &n, 1);
    must(n >= 1 && n <= 2048, "size out of range");
    size_t count = (size_t)n * n;
    int* width = (int*)malloc(count * sizeof(int));
    readInts("data/capacity.bin", width, count);
    for (size_t at = 0; at < count; ++at) must(width[at] >= 0, "negative capacity");
    cuda(cudaMalloc(&dWidth, count * sizeof(int)));
    cuda(cudaMemcpy(dWidth, width, count * sizeof(int), cudaMemcpyHostToDevice));
    start<<<(n + 127) / 128, 128>>>(dWidth, n);
    cuda(cudaGetLastError());
    for (int k = 0; k < n; ++k) {
        allow<<<dim3((n + 127) / 128, n), 128>>>(dWidth, n, k);
        cuda(cudaGetLastError());
    }
    cuda(cudaMemcpy(width, dWidth, count * sizeof(int), cudaMemcpyDeviceToHost));
    FILE* out = fopen("data/width.bin", "wb");
    must(out && fwrite(width, sizeof(int), count, out) == count && fclose(out) == 0, "data/width.bin");
    return 0;
}
