#include <cuda_runtime.h>
#include <stdio.h>
#include <stdlib.h>

// One thread has one set, and its row of `reachable` as the bitset. From the top word down, each word takes
// bits only from words that have not been changed for this item yet.
__global__ void subsetSums(const int* weights, int sets, int items, int target, unsigned* reachable, int* closest) {
    int k = blockIdx.x * blockDim.x + threadIdx.x;
    if (k >= sets) return;
    int words = target / 32 + 1;
    unsigned* bits = reachable + (size_t)k * words;
    for (int i = 0; i < words; ++i) bits[i] = 0;
    bits[0] = 1;
    for (int j = 0; j < items; ++j) {
        int weight = weights[(size_t)k * items + j];
        if (weight > target) continue;
        int q = weight / 32, r = weight % 32;
        for (int i = words - 1; i >= q; --i) {
            unsigned shifted = bits[i - q] << r;
            if (r > 0 && i > q) shifted |= bits[i - q - 1] >> (32 - r);
            bits[i] |= shifted;
        }
    }
    for (int s = target + 1; s < 32 * words; ++s) bits[words - 1] &= ~(1u << (s % 32));
    int top = target;
    while (!(bits[top / 32] >> (top % 32) & 1)) --top;
    closest[k] = top;
}

static void die(const char* text) {
    fprintf(stderr, "%s\n", text);
    exit(1);
}

static void check(cudaError_t e) {
    if (e != cudaSuccess) die(cudaGetErrorString(e));
}

static int* readInts(const char* path, size_t count) {
    int* values = (int*)malloc(count * sizeof(int));
    FILE* f = fopen(path, "rb");
    if (!values || !f || fread(values, sizeof(int), count, f) != count || fgetc(f) != EOF) die(path);
    fclose(f);
    return values;
}

static void writeArray(const char* path, const void* device, size_t bytes) {
    void* host = malloc(bytes);
    if (!host) die("out of memory");
    check(cudaMemcpy(host, device, bytes, cudaMemcpyDeviceToHost));
    FILE* f = fopen(path, "wb");
    if (!f || fwrite(host, 1, bytes, f) != bytes || fclose(f) != 0) die(path);
    free(host);
}

int main() {
    int* sizes = readInts("data/sizes.bin", 3);
    int sets = sizes[0], items = sizes[1], target = sizes[2];
    if (sets < 1 || sets > 65535 || items < 1 || items > 512 || target < 1 || target > 65535) die("bad sizes");
    size_t count = (size_t)sets * items, words = (size_t)sets * (target / 32 + 1);
    int* weights = readInts("data/weights.bin", count);
    for (size_t i = 0; i < count; ++i)
        if (weights[i] < 1) die("a weight is below 1");
    int *dWeights, *dClosest;
    unsigned* dReachable;
    check(cudaMalloc(&dWeights, count * sizeof(int)));
    check(cudaMalloc(&dReachable, words * sizeof(unsigned)));
    check(cudaMalloc(&dClosest, sets * sizeof(int)));
    check(cudaMemcpy(dWeights, weights, count * sizeof(int), cudaMemcpyHostToDevice));
    subsetSums<<<(sets + 63) / 64, 64>>>(dWeights, sets, items, target, dReachable, dClosest);
    check(cudaGetLastError());
    writeArray("data/reachable.bin", dReachable, words * sizeof(unsigned));
    writeArray("data/closest.bin", dClosest, sets * sizeof(int));
    check(cudaFree(dWeights));
    check(cudaFree(dReachable));
    check(cudaFree(dClosest));
    return 0;
}
