#include <cuda_runtime.h>
#include <stdio.h>
#include <stdlib.h>

#define TRY(call)                                                          \
    do {                                                                   \
        cudaError_t e = (call);                                            \
        if (e != cudaSuccess) {                                            \
            fprintf(stderr, "%s: %s\n", #call, cudaGetErrorString(e));     \
            exit(1);                                                       \
        }                                                                  \
    } while (0)

// One sweep over all vertices: those of the present level give the next level to neighbours that have none.
__global__ void sweep(const int* rowPtr, const int* neighbors, int* level, int vertices, int depth, int* changed) {
    int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v >= vertices || level[v] != depth) return;
    for (int e = rowPtr[v]; e < rowPtr[v + 1]; ++e) {
        if (level[neighbors[e]] == -1) {  // all writers of this sweep write the same value
            level[neighbors[e]] = depth + 1;
            *changed = 1;
        }
    }
}

static int* readInts(const char* path, size_t count) {
    int* values = (int*)malloc(count * sizeof(int));
    FILE* f = fopen(path, "rb");
    if (!values || !f || fread(values, sizeof(int), count, f) != count || fgetc(f) != EOF) {
        fprintf(stderr, "cannot read %s\n", path);
        exit(1);
    }
    fclose(f);
    return values;
}

static void fail(const char* message) {
    fprintf(stderr, "%s\n", message);
    exit(1);
}

int main(void) {
    int* sizes = readInts("data/sizes.bin", 2);
    int vertices = sizes[0], edges = sizes[1];
    if (vertices < 1 || vertices > 2000000 || edges < 1 || edges > 8000000) fail("sizes out of range");
    int* rowPtr = readInts("data/row_ptr.bin", vertices + 1);
    int* neighbors = readInts("data/neighbors.bin", edges);
    int source = *readInts("data/source.bin", 1);
    if (rowPtr[0] != 0 || rowPtr[vertices] != edges || source < 0 || source >= vertices) fail("bad graph or source");
    for (int v = 0; v < vertices; ++v)
        if (rowPtr[v] > rowPtr[v + 1]) fail("row_ptr decreases");
    for (int e = 0; e < edges; ++e)
        if (neighbors[e] < 0 || neighbors[e] >= vertices) fail("no such vertex");

    int *dRowPtr, *dNeighbors, *dLevel, *dChanged, changed = 1;
    TRY(cudaMalloc(&dRowPtr, (vertices + 1) * sizeof(int)));
    TRY(cudaMalloc(&dNeighbors, edges * sizeof(int)));
    TRY(cudaMalloc(&dLevel, vertices * sizeof(int)));
    TRY(cudaMalloc(&dChanged, sizeof(int)));
    TRY(cudaMemcpy(dRowPtr, rowPtr, (vertices + 1) * sizeof(int), cudaMemcpyHostToDevice));
    TRY(cudaMemcpy(dNeighbors, neighbors, edges * sizeof(int), cudaMemcpyHostToDevice));
    TRY(cudaMemset(dLevel, 0xff, vertices * sizeof(int)));  // -1 everywhere
    TRY(cudaMemset(dLevel + source, 0, sizeof(int)));
    for (int depth = 0; changed; ++depth) {
        TRY(cudaMemset(dChanged, 0, sizeof(int)));
        sweep<<<(vertices + 255) / 256, 256>>>(dRowPtr, dNeighbors, dLevel, vertices, depth, dChanged);
        TRY(cudaGetLastError());
        TRY(cudaMemcpy(&changed, dChanged, sizeof(int), cudaMemcpyDeviceToHost));
    }
    int* level = (int*)malloc(vertices * sizeof(int));
    if (!level) fail("out of memory");
    TRY(cudaMemcpy(level, dLevel, vertices * sizeof(int), cudaMemcpyDeviceToHost));
    FILE* out = fopen("data/level.bin", "wb");
    if (!out || fwrite(level, sizeof(int), vertices, out) != (size_t)vertices || fclose(out)) fail("cannot write");
    return 0;
}
