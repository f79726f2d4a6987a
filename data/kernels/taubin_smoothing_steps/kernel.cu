#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <utility>
#include <vector>

constexpr int kMaxPoints = 262144, kMaxLinks = 2097152, kMaxSteps = 32, kThreads = 128;

__global__ void step(const float* __restrict__ source, float* __restrict__ target, const int* __restrict__ offsets,
                     const int* __restrict__ neighbors, int n, float factor) {
    const int i = blockIdx.x * kThreads + threadIdx.x;
    if (i >= n) return;
    const int begin = offsets[i], end = offsets[i + 1];
    float sum[3] = {};
    for (int e = begin; e < end; ++e) {
        const float* p = source + 3 * neighbors[e];
        for (int a = 0; a < 3; ++a) sum[a] += p[a];
    }
    for (int a = 0; a < 3; ++a) {
        const float own = source[3 * i + a];
        target[3 * i + a] = begin < end ? own + factor * (sum[a] / (end - begin) - own) : own;
    }
}

static void fail(const char* what, const char* why) {
    fprintf(stderr, "%s: %s\n", what, why);
    exit(1);
}

static void gpu(cudaError_t status) {
    if (status != cudaSuccess) fail("CUDA", cudaGetErrorString(status));
}

static void readFile(const char* path, void* data, size_t bytes) {
    FILE* file = fopen(path, "rb");
    if (!file || fread(data, 1, bytes, file) != bytes || fgetc(file) != EOF) fail(path, "not of the expected length");
    fclose(file);
}

static int* upload(const std::vector<int>& values) {
    int* device;
    gpu(cudaMalloc(&device, values.size() * sizeof(int)));
    gpu(cudaMemcpy(device, values.data(), values.size() * sizeof(int), cudaMemcpyHostToDevice));
    return device;
}

int main() {
    int sizes[3];
    readFile("data/sizes.bin", sizes, sizeof sizes);
    const int n = sizes[0], links = sizes[1], steps = sizes[2];
    if (n < 1 || n > kMaxPoints || links < 1 || links > kMaxLinks || steps < 1 || steps > kMaxSteps) {
        fail("data/sizes.bin", "out of range");
    }
    std::vector<int> offsets(n + 1), neighbors(links);
    float factors[2];
    readFile("data/offsets.bin", offsets.data(), offsets.size() * sizeof(int));
    readFile("data/neighbors.bin", neighbors.data(), neighbors.size() * sizeof(int));
    readFile("data/factors.bin", factors, sizeof factors);
    bool valid = offsets[0] == 0 && offsets[n] == links;
    for (int i = 0; i < n; ++i) valid = valid && offsets[i] <= offsets[i + 1];
    if (!valid) fail("data/offsets.bin", "does not rise from 0 to links");
    for (int j : neighbors) {
        if (j < 0 || j >= n) fail("data/neighbors.bin", "an index is out of range");
    }
    const size_t bytes = 3 * static_cast<size_t>(n) * sizeof(float);
    float *points, *source, *target;
    gpu(cudaMallocHost(&points, bytes));
    readFile("data/points.bin", points, bytes);
    int *dOffsets = upload(offsets), *dNeighbors = upload(neighbors);
    gpu(cudaMalloc(&source, bytes));
    gpu(cudaMalloc(&target, bytes));
    cudaStream_t stream;
    gpu(cudaStreamCreate(&stream));
    gpu(cudaMemcpyAsync(source, points, bytes, cudaMemcpyHostToDevice, stream));
    for (int s = 0; s < steps; ++s) {
        const int blocks = (n + kThreads - 1) / kThreads;
        step<<<blocks, kThreads, 0, stream>>>(source, target, dOffsets, dNeighbors, n, factors[s % 2]);
        gpu(cudaGetLastError());
        std::swap(source, target);
    }
    gpu(cudaMemcpyAsync(points, source, bytes, cudaMemcpyDeviceToHost, stream));
    gpu(cudaStreamSynchronize(stream));

    FILE* out = fopen("data/smoothed.bin", "wb");
    if (!out || fwrite(points, 1, bytes, out) != bytes || fclose(out) != 0) fail("data/smoothed.bin", "not written");
    gpu(cudaStreamDestroy(stream));
    gpu(cudaFree(source));
    gpu(cudaFree(target));
    gpu(cudaFree(dOffsets));
    gpu(cudaFree(dNeighbors));
    gpu(cudaFreeHost(points));
    return 0;
}
