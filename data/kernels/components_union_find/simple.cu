#include <cuda_runtime.h>
#include <stdio.h>
#include <stdlib.h>

#define DO(call)                                                    \
    do {                                                            \
        cudaError_t code = (call);                                  \
        if (code != cudaSuccess) {                                  \
            fprintf(stderr, "%s\n", cudaGetErrorString(code));      \
            return 1;                                               \
        }                                                           \
    } while (0)

__global__ void number(int* label, int vertices) {
    int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v < vertices) label[v] = v;
}

// The smaller label wins at both ends of an edge.
__global__ void spread(const int* edges, int* label, int count, int* changed) {
    int e = blockIdx.x * blockDim.x + threadIdx.x;
    if (e >= count) return;
    int a = edges[2 * e], b = edges[2 * e + 1];
    int la = atomicMin(&label[a], label[b]);
    int lb = atomicMin(&label[b], la);
    if (la != lb) *changed = 1;
}

// A label is a vertex of the same component: take over its label.
__global__ void shortcut(int* label, int vertices) {
    int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v < vertices) atomicMin(&label[v], label[label[v]]);
}

static int readInts(const char* path, int* values, size_t count) {
    FILE* f = fopen(path, "rb");
    int good = f && values && fread(values, sizeof(int), count, f) == count && fgetc(f) == EOF;
    if (f) fclose(f);
    if (!good) fprintf(stderr, "%s: wrong size\n", path);
    return good;
}

int main(void) {
    int sizes[2];
    if (!readInts("data/sizes.bin", sizes, 2)) return 1;
    int vertices = sizes[0], count = sizes[1];
    if (vertices < 1 || vertices > 2000000 || count < 1 || count > 2000000) return 1;
    int* edges = (int*)malloc(2 * (size_t)count * sizeof(int));
    int* label = (int*)malloc(vertices * sizeof(int));
    if (!label || !readInts("data/edges.bin", edges, 2 * (size_t)count)) return 1;
    for (int i = 0; i < 2 * count; ++i) {
        if (edges[i] < 0 || edges[i] >= vertices) return 1;
    }
    int *dEdges, *dLabel, *dChanged, changed = 1;
    DO(cudaMalloc(&dEdges, 2 * (size_t)count * sizeof(int)));
    DO(cudaMalloc(&dLabel, vertices * sizeof(int)));
    DO(cudaMalloc(&dChanged, sizeof(int)));
    DO(cudaMemcpy(dEdges, edges, 2 * (size_t)count * sizeof(int), cudaMemcpyHostToDevice));
    number<<<(vertices + 255) / 256, 256>>>(dLabel, vertices);
    while (changed) {
        DO(cudaMemset(dChanged, 0, sizeof(int)));
        spread<<<(count + 255) / 256, 256>>>(dEdges, dLabel, count, dChanged);
        shortcut<<<(vertices + 255) / 256, 256>>>(dLabel, vertices);
        DO(cudaGetLastError());
        DO(cudaMemcpy(&changed, dChanged, sizeof(int), cudaMemcpyDeviceToHost));
    }
    DO(cudaMemcpy(label, dLabel, vertices * sizeof(int), cudaMemcpyDeviceToHost));
    FILE* out = fopen("data/component.bin", "wb");
    if (!out || fwrite(label, sizeof(int), vertices, out) != (size_t)vertices || fclose(out)) return 1;
    return 0;
}
