#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

__global__ void relativeMax(const __half* features, const int* neighbors, __half* edge, int n, int k, int channels) {
    int e = blockIdx.x * blockDim.x + threadIdx.x;
    if (e >= n * channels) return;
    int i = e / channels, c = e % channels;
    float best = __half2float(features[neighbors[i * k] * channels + c]);
    for (int s = 1; s < k; ++s) {
        best = fmaxf(best, __half2float(features[neighbors[i * k + s] * channels + c]));
    }
    edge[e] = __float2half(best - __half2float(features[e]));
}

void stop(const char* what) {
    fprintf(stderr, "%s\n", what);
    exit(1);
}

void gpu(cudaError_t status) {
    if (status != cudaSuccess) stop(cudaGetErrorString(status));
}

void load(const char* path, void* data, size_t bytes) {
    FILE* f = fopen(path, "rb");
    if (!f || fread(data, 1, bytes, f) != bytes || fgetc(f) != EOF) stop(path);
    fclose(f);
}

int main() {
    int sizes[3];
    load("data/sizes.bin", sizes, sizeof(sizes));
    int n = sizes[0], k = sizes[1], channels = 2 * sizes[2];
    if (n < 1 || n > 65536 || k < 1 || k > 64 || channels < 2 || channels > 512) stop("data/sizes.bin: out of range");
    size_t count = (size_t)n * channels;
    std::vector<unsigned short> values(count);
    std::vector<int> neighbors((size_t)n * k);
    load("data/features.bin", values.data(), count * 2);
    load("data/neighbors.bin", neighbors.data(), neighbors.size() * sizeof(int));
    for (int j : neighbors) {
        if (j < 0 || j >= n) stop("data/neighbors.bin: index out of range");
    }
    __half *features, *edge;
    int* list;
    gpu(cudaMalloc(&features, count * 2));
    gpu(cudaMalloc(&edge, count * 2));
    gpu(cudaMalloc(&list, neighbors.size() * sizeof(int)));
    gpu(cudaMemcpy(features, values.data(), count * 2, cudaMemcpyHostToDevice));
    gpu(cudaMemcpy(list, neighbors.data(), neighbors.size() * sizeof(int), cudaMemcpyHostToDevice));
    relativeMax<<<(count + 255) / 256, 256>>>(features, list, edge, n, k, channels);
    gpu(cudaGetLastError());
    gpu(cudaMemcpy(values.data(), edge, count * 2, cudaMemcpyDeviceToHost));
    gpu(cudaFree(features));
    gpu(cudaFree(edge));
    gpu(cudaFree(list));
    FILE* f = fopen("data/edge.bin", "wb");
    if (!f || fwrite(values.data(), 2, count, f) != count || fclose(f) != 0) stop("data/edge.bin: not written");
    return 0;
}
