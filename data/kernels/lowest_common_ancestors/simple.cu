#include <cuda_runtime.h>
#include <stdio.h>
#include <stdlib.h>

// Walks up from both nodes: first the deeper one to the depth of the other, then both together.
__global__ void answer(const int* parent, const int* query, int* ancestor, int queries) {
    int q = blockIdx.x * blockDim.x + threadIdx.x;
    if (q >= queries) return;
    int a = query[2 * q], b = query[2 * q + 1], rise = 0;
    for (int v = a; parent[v] != v; v = parent[v]) ++rise;
    for (int v = b; parent[v] != v; v = parent[v]) --rise;
    for (; rise > 0; --rise) a = parent[a];
    for (; rise < 0; ++rise) b = parent[b];
    while (a != b) {
        a = parent[a];
        b = parent[b];
    }
    ancestor[q] = a;
}

static void require(bool good, const char* what) {
    if (good) return;
    fprintf(stderr, "%s\n", what);
    exit(1);
}

static void cuda(cudaError_t e) { require(e == cudaSuccess, cudaGetErrorString(e)); }

static int* readInts(const char* path, size_t count) {
    int* values = (int*)malloc(count * sizeof(int));
    FILE* file = fopen(path, "rb");
    require(values && file && fread(values, sizeof(int), count, file) == count && fgetc(file) == EOF, path);
    fclose(file);
    return values;
}

static int* upload(const int* host, size_t count) {
    int* device;
    cuda(cudaMalloc(&device, count * sizeof(int)));
    cuda(cudaMemcpy(device, host, count * sizeof(int), cudaMemcpyHostToDevice));
    return device;
}

int main() {
    int* sizes = readInts("data/sizes.bin", 2);
    int nodes = sizes[0], queries = sizes[1], roots = 0;
    require(nodes >= 1 && nodes <= 1000000 && queries >= 1 && queries <= 4000000, "sizes out of range");
    int* parent = readInts("data/parent.bin", nodes);
    int* query = readInts("data/query.bin", 2 * (size_t)queries);
    for (int v = 0; v < nodes; ++v) {
        require(parent[v] >= 0 && parent[v] < nodes, "no such node");
        roots += parent[v] == v;
    }
    require(roots == 1, "expected one root");
    for (int i = 0; i < 2 * queries; ++i) require(query[i] >= 0 && query[i] < nodes, "no such node");
    int* dAncestor;
    cuda(cudaMalloc(&dAncestor, queries * sizeof(int)));
    answer<<<(queries + 127) / 128, 128>>>(upload(parent, nodes), upload(query, 2 * (size_t)queries), dAncestor,
                                           queries);
    cuda(cudaGetLastError());
    int* ancestor = (int*)malloc(queries * sizeof(int));
    require(ancestor != NULL, "out of memory");
    cuda(cudaMemcpy(ancestor, dAncestor, queries * sizeof(int), cudaMemcpyDeviceToHost));
    FILE* out = fopen("data/ancestor.bin", "wb");
    require(out && fwrite(ancestor, sizeof(int), queries, out) == (size_t)queries && fclose(out) == 0, "write");
    return 0;
}
