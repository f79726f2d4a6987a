#include <cuda_runtime.h>
#include <stdio.h>
#include <stdlib.h>

// The H-index iteration: a vertex's value becomes the largest h with at least h neighbours of value >= h.
// Starting from the degrees this converges to the core numbers.
__global__ void improve(const int* rowPtr, const int* neighbors, int* value, int vertices, int* changed) {
    int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v >= vertices) return;
    int old = value[v], h = old;
    while (h > 0) {
        int enough = 0;
        for (int e = rowPtr[v]; e < rowPtr[v + 1]; ++e) enough += value[neighbors[e]] >= h;
        if (enough >= h) break;
        --h;
    }
    if (h < old) {
        value[v] = h;
        *changed = 1;
    }
}

static void must(bool good, const char* what) {
    if (!good) {
        fprintf(stderr, "%s\n", what);
        exit(1);
    }
}

static void cuda(cudaError_t status) { must(status == cudaSuccess, cudaGetErrorString(status)); }

static int* readInts(const char* path, size_t count) {
    int* values = (int*)malloc(count * sizeof(int));
    FILE* file = fopen(path, "rb");
    must(values && file && fread(values, sizeof(int), count, file) == count && fgetc(file) == EOF, path);
    fclose(file);
    return values;
}

int main() {
    int* sizes = readInts("data/sizes.bin", 2);
    int vertices = sizes[0], edges = sizes[1];
    must(vertices >= 2 && vertices <= 500000 && edges >= 1 && edges <= 2000000, "sizes out of range");
    int* rowPtr = readInts("data/row_ptr.bin", vertices + 1);
    int* neighbors = readInts("data/neighbors.bin", 2 * (size_t)edges);
    must(rowPtr[0] == 0 && rowPtr[vertices] == 2 * edges, "row_ptr");
    int* value = (int*)malloc(vertices * sizeof(int));
    must(value != NULL, "out of memory");
    for (int v = 0; v < vertices; ++v) {
        value[v] = rowPtr[v + 1] - rowPtr[v];
        must(value[v] >= 0, "row_ptr decreases");
    }
    for (int e = 0; e < 2 * edges; ++e) must(neighbors[e] >= 0 && neighbors[e] < vertices, "neighbors");

    int *dRowPtr, *dNeighbors, *dValue, *dChanged, changed = 1;
    cuda(cudaMalloc(&dRowPtr, (vertices + 1) * sizeof(int)));
    cuda(cudaMalloc(&dNeighbors, 2 * (size_t)edges * sizeof(int)));
    cuda(cudaMalloc(&dValue, vertices * sizeof(int)));
    cuda(cudaMalloc(&dChanged, sizeof(int)));
    cuda(cudaMemcpy(dRowPtr, rowPtr, (vertices + 1) * sizeof(int), cudaMemcpyHostToDevice));
    cuda(cudaMemcpy(dNeighbors, neighbors, 2 * (size_t)edges * sizeof(int), cudaMemcpyHostToDevice));
    cuda(cudaMemcpy(dValue, value, vertices * sizeof(int), cudaMemcpyHostToDevice));
    while (changed) {
        cuda(cudaMemset(dChanged, 0, sizeof(int)));
        improve<<<(vertices + 127) / 128, 128>>>(dRowPtr, dNeighbors, dValue, vertices, dChanged);
        cuda(cudaGetLastError());
        cuda(cudaMemcpy(&changed, dChanged, sizeof(int), cudaMemcpyDeviceToHost));
    }
    cuda(cudaMemcpy(value, dValue, vertices * sizeof(int), cudaMemcpyDeviceToHost));
    FILE* out = fopen("data/core.bin", "wb");
    must(out && fwrite(value, sizeof(int), vertices, out) == (size_t)vertices && fclose(out) == 0, "data/core.bin");
    return 0;
}
