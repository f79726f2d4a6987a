#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

__device__ float at(const float* channel, int i, int n) { return channel[i < 0 ? 0 : i >= n ? n - 1 : i]; }

__global__ void play(const float* x, const uint32_t* position, float* y, long long total, int n, int outputs) {
    long long e = blockIdx.x * (long long)blockDim.x + threadIdx.x;
    if (e >= total) return;
    const float* channel = x + e / outputs * n;
    uint32_t p = position[e % outputs];
    int i = p >> 16;
    float u = (p & 65535) / 65536.0f;
    float a = at(channel, i - 1, n), b = at(channel, i, n), c = at(channel, i + 1, n), d = at(channel, i + 2, n);
    y[e] = b + 0.5f * u * (c - a + u * (2 * a - 5 * b + 4 * c - d + u * (3 * (b - c) + d - a)));
}

void require(bool good, const char* what) {
    if (good) return;
    fprintf(stderr, "%s\n", what);
    exit(1);
}

void gpu(cudaError_t status) { require(status == cudaSuccess, cudaGetErrorString(status)); }

void load(const char* path, void* data, size_t bytes) {
    FILE* f = fopen(path, "rb");
    require(f && fread(data, 1, bytes, f) == bytes && fgetc(f) == EOF, path);
    fclose(f);
}

int main() {
    int sizes[3];
    load("data/sizes.bin", sizes, sizeof(sizes));
    int channels = sizes[0], n = sizes[1], outputs = sizes[2];
    require(channels >= 1 && channels <= 64 && n >= 1 && n <= 65536, "data/sizes.bin: out of range");
    require(outputs >= 1 && outputs <= 1048576, "data/sizes.bin: out of range");
    std::vector<float> x((size_t)channels * n), y((size_t)channels * outputs);
    std::vector<uint32_t> position(outputs);
    load("data/x.bin", x.data(), x.size() * 4);
    load("data/position.bin", position.data(), outputs * 4);
    for (uint32_t p : position) require((int)(p >> 16) < n, "data/position.bin: beyond the last sample");
    float *dx, *dy;
    uint32_t* dp;
    gpu(cudaMalloc(&dx, x.size() * 4));
    gpu(cudaMalloc(&dy, y.size() * 4));
    gpu(cudaMalloc(&dp, outputs * 4));
    gpu(cudaMemcpy(dx, x.data(), x.size() * 4, cudaMemcpyHostToDevice));
    gpu(cudaMemcpy(dp, position.data(), outputs * 4, cudaMemcpyHostToDevice));
    play<<<(y.size() + 255) / 256, 256>>>(dx, dp, dy, y.size(), n, outputs);
    gpu(cudaGetLastError());
    gpu(cudaMemcpy(y.data(), dy, y.size() * 4, cudaMemcpyDeviceToHost));
    gpu(cudaFree(dx));
    gpu(cudaFree(dy));
    gpu(cudaFree(dp));
    FILE* f = fopen("data/y.bin", "wb");
    require(f && fwrite(y.data(), 4, y.size(), f) == y.size() && fclose(f) == 0, "data/y.bin: not written");
    return 0;
}
