#include <cuda_runtime.h>
#include <stdio.h>
#include <stdlib.h>

__global__ void aggregate(const int* rowPtr, const int* neighbors, const float* features, float* output, int vertices,
                          int width) {
    long long at = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (at >= (long long)vertices * width) return;
    int v = (int)(at / width), f = (int)(at % width);
    float degree = rowPtr[v + 1] - rowPtr[v] + 1;
    float sum = features[at] / degree;
    for (int e = rowPtr[v]; e < rowPtr[v + 1]; ++e) {
        int u = neighbors[e];
        float other = rowPtr[u + 1] - rowPtr[u] + 1;
        sum += features[(size_t)u * width + f] / sqrtf(degree * other);
    }
    output[at] = sum;
}

static void must(bool good, const char* what) {
    if (!good) {
        fprintf(stderr, "%s\n", what);
        exit(1);
    }
}

static void cuda(cudaError_t status) { must(status == cudaSuccess, cudaGetErrorString(status)); }

// The contents of a file, in managed memory.
static void* readManaged(const char* path, size_t bytes) {
    void* data;
    cuda(cudaMallocManaged(&data, bytes));
    FILE* file = fopen(path, "rb");
    must(file && fread(data, 1, bytes, file) == bytes && fgetc(file) == EOF, path);
    fclose(file);
    return data;
}

int main() {
    int* sizes = (int*)readManaged("data/sizes.bin", 12);
    int vertices = sizes[0], entries = sizes[1], width = sizes[2];
    must(vertices >= 1 && vertices <= 1000000 && entries >= 1 && entries <= 8000000, "sizes");
    must(width >= 4 && width <= 512 && width % 4 == 0, "sizes");
    int* rowPtr = (int*)readManaged("data/row_ptr.bin", (vertices + 1) * sizeof(int));
    int* neighbors = (int*)readManaged("data/neighbors.bin", entries * sizeof(int));
    must(rowPtr[0] == 0 && rowPtr[vertices] == entries, "row_ptr");
    for (int v = 0; v < vertices; ++v) must(rowPtr[v] <= rowPtr[v + 1], "row_ptr");
    for (int e = 0; e < entries; ++e) must(neighbors[e] >= 0 && neighbors[e] < vertices, "neighbors");
    size_t cells = (size_t)vertices * width;
    float* features = (float*)readManaged("data/features.bin", cells * sizeof(float));
    float* output;
    cuda(cudaMallocManaged(&output, cells * sizeof(float)));
    aggregate<<<(cells + 255) / 256, 256>>>(rowPtr, neighbors, features, output, vertices, width);
    cuda(cudaGetLastError());
    cuda(cudaDeviceSynchronize());
    FILE* file = fopen("data/output.bin", "wb");
    must(file && fwrite(output, sizeof(float), cells, file) == cells && fclose(file) == 0, "data/output.bin");
    return 0;
}
