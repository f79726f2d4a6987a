#include <cstdio>
#include <cstdlib>
#include <vector>
#include <cuda_runtime.h>

constexpr int PLANES = 3;
constexpr int HEIGHT = 70;
constexpr int WIDTH = 61;
constexpr int OUT_H = (HEIGHT + 2) / 3;
constexpr int OUT_W = (WIDTH + 2) / 3;

static inline void checkCuda(cudaError_t e, const char* what) {
    if (e != cudaSuccess) {
        std::fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(e));
        std::exit(1);
    }
}

static bool load(const char* path, void* dst, size_t bytes) {
    FILE* f = std::fopen(path, "rb");
    if (!f) return false;
    size_t got = std::fread(dst, 1, bytes, f);
    std::fclose(f);
    return got == bytes;
}

static bool store(const char* path, const void* src, size_t bytes) {
    FILE* f = std::fopen(path, "wb");
    if (!f) return false;
    size_t put = std::fwrite(src, 1, bytes, f);
    return std::fclose(f) == 0 && put == bytes;
}

__global__ void top_two_pool(const float* x, float* pooled, float* gap) {
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    int i = blockIdx.y * blockDim.y + threadIdx.y;
    int plane = blockIdx.z;
    if (i >= OUT_H || j >= OUT_W) return;
    const float* p = x + (size_t)plane * HEIGHT * WIDTH;
    float first = -INFINITY, second = -INFINITY;
    for (int r = 3 * i; r < 3 * i + 3 && r < HEIGHT; ++r) {
        for (int c = 3 * j; c < 3 * j + 3 && c < WIDTH; ++c) {
            float v = p[r * WIDTH + c];
            if (v > first) {
                second = first;
                first = v;
            } else if (v > second) {
                second = v;
            }
        }
    }
    if (second == -INFINITY) second = first;
    size_t at = ((size_t)plane * OUT_H + i) * OUT_W + j;
    pooled[at] = 0.5f * (first + second);
    gap[at] = first - second;
}

int main() {
    const size_t xSize = PLANES * HEIGHT * WIDTH;
    const size_t pooledSize = PLANES * ((HEIGHT + 2) / 3) * ((WIDTH + 2) / 3);
    std::vector<float> x(xSize);
    std::vector<float> pooled(pooledSize);
    std::vector<float> gap(pooledSize);
    if (!load("data/x.bin", x.data(), xSize * sizeof(float))) {
        std::fprintf(stderr, "input files missing or short\n");
        return 1;
    }

    float *d_x = nullptr, *d_pooled = nullptr, *d_gap = nullptr;
    checkCuda(cudaMalloc(&d_x, xSize * sizeof(float)), "malloc x");
    checkCuda(cudaMalloc(&d_pooled, pooledSize * sizeof(float)), "malloc pooled");
    checkCuda(cudaMalloc(&d_gap, pooledSize * sizeof(float)), "malloc gap");
    checkCuda(cudaMemcpy(d_x, x.data(), xSize * sizeof(float), cudaMemcpyHostToDevice),
          "copy x");

    dim3 block(32, 8);
    dim3 grid((OUT_W + 32 - 1) / 32, (OUT_H + 8 - 1) / 8, PLANES);
    top_two_pool<<<grid, block>>>(d_x, d_pooled, d_gap);
    checkCuda(cudaGetLastError(), "launch");
    checkCuda(cudaMemcpy(pooled.data(), d_pooled, pooledSize * sizeof(float), cudaMemcpyDeviceToHost),
          "copy pooled");
    checkCuda(cudaMemcpy(gap.data(), d_gap, pooledSize * sizeof(float), cudaMemcpyDeviceToHost),
          "copy gap");

    cudaFree(d_x);
    cudaFree(d_pooled);
    cudaFree(d_gap);
    if (!store("data/pooled.bin", pooled.data(), pooledSize * sizeof(float))) return 1;
    if (!store("data/gap.bin", gap.data(), pooledSize * sizeof(float))) return 1;
    return 0;
}
