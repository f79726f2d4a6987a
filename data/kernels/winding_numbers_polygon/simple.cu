#include <cuda_runtime.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

__global__ void winding_number(const int *polygon, const int *queries, int points, int vertices, int *winding,
                               int *inside) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= points) return;
    long long x = queries[2 * i], y = queries[2 * i + 1];
    int turns = 0;
    for (int v = 0; v < vertices; v++) {
        int next = v + 1 == vertices ? 0 : v + 1;
        long long ax = polygon[2 * v], ay = polygon[2 * v + 1];
        long long bx = polygon[2 * next], by = polygon[2 * next + 1];
        long long side = (bx - ax) * (y - ay) - (by - ay) * (x - ax);
        if (ay <= y && y < by && side > 0) turns++;
        if (by <= y && y < ay && side < 0) turns--;
    }
    winding[i] = turns;
    if (turns != 0) atomicAdd(inside, 1);
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
    int points = sizes[0], vertices = sizes[1];
    if (points < 1 || points > 4194304 || vertices < 3 || vertices > 8192) die("data/sizes.bin", "out of range");
    int *polygon = (int *)upload("data/polygon.bin", 2 * sizeof(int) * vertices);
    int *queries = (int *)upload("data/queries.bin", 2 * sizeof(int) * points);
    int *winding = (int *)reserve(sizeof(int) * points), *inside = (int *)reserve(sizeof(int));
    cu(cudaMemset(inside, 0, sizeof(int)), "clear");
    winding_number<<<(points + 127) / 128, 128>>>(polygon, queries, points, vertices, winding, inside);
    cu(cudaGetLastError(), "launch");
    dump("data/winding.bin", winding, sizeof(int) * points);
    dump("data/inside.bin", inside, sizeof(int));
    return 0;
}
