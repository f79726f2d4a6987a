#include <cuda_runtime.h>
#include <stdio.h>
#include <stdlib.h>

__global__ void costMatrix(const float* predicted, const float* target, float* cost, int predictions, int targets) {
    long long at = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (at >= (long long)predictions * targets) return;
    const float* p = predicted + 4 * (at / targets);
    const float* t = target + 4 * (at % targets);
    float w = fminf(p[2], t[2]) - fmaxf(p[0], t[0]);
    float h = fminf(p[3], t[3]) - fmaxf(p[1], t[1]);
    float overlap = w > 0 && h > 0 ? w * h : 0;
    float whole = (p[2] - p[0]) * (p[3] - p[1]) + (t[2] - t[0]) * (t[3] - t[1]) - overlap;
    float hull = (fmaxf(p[2], t[2]) - fminf(p[0], t[0])) * (fmaxf(p[3], t[3]) - fminf(p[1], t[1]));
    cost[at] = 1 - (whole > 0 ? overlap / whole : 0) + (hull > 0 ? (hull - whole) / hull : 0);
}

static void check(bool good, const char* what) {
    if (!good) {
        fprintf(stderr, "%s\n", what);
        exit(1);
    }
}

static void cuda(cudaError_t status) { check(status == cudaSuccess, cudaGetErrorString(status)); }

static float* loadBoxes(const char* path, int count) {
    size_t bytes = (size_t)count * 4 * sizeof(float);
    float *host = (float*)malloc(bytes), *device;
    FILE* file = fopen(path, "rb");
    check(host && file && fread(host, 1, bytes, file) == bytes && fgetc(file) == EOF, path);
    fclose(file);
    for (int b = 0; b < count; ++b) check(host[4 * b] <= host[4 * b + 2] && host[4 * b + 1] <= host[4 * b + 3], path);
    cuda(cudaMalloc(&device, bytes));
    cuda(cudaMemcpy(device, host, bytes, cudaMemcpyHostToDevice));
    free(host);
    return device;
}

int main() {
    int sizes[2];
    FILE* file = fopen("data/sizes.bin", "rb");
    check(file && fread(sizes, sizeof(int), 2, file) == 2 && fgetc(file) == EOF, "data/sizes.bin");
    fclose(file);
    int predictions = sizes[0], targets = sizes[1];
    check(predictions >= 1 && predictions <= 16384 && targets >= 1 && targets <= 16384, "sizes out of range");
    float* predicted = loadBoxes("data/predicted.bin", predictions);
    float* target = loadBoxes("data/target.bin", targets);
    size_t cells = (size_t)predictions * targets;
    float *dCost, *cost = (float*)malloc(cells * sizeof(float));
    check(cost != NULL, "out of memory");
    cuda(cudaMalloc(&dCost, cells * sizeof(float)));
    costMatrix<<<(cells + 255) / 256, 256>>>(predicted, target, dCost, predictions, targets);
    cuda(cudaGetLastError());
    cuda(cudaMemcpy(cost, dCost, cells * sizeof(float), cudaMemcpyDeviceToHost));
    file = fopen("data/cost.bin", "wb");
    check(file && fwrite(cost, sizeof(float), cells, file) == cells && fclose(file) == 0, "data/cost.bin");
    return 0;
}
