#include <cstdio>
#include <cstdlib>
#include <vector>
#include <cuda_runtime.h>

constexpr int BATCH = 3;
constexpr int HEIGHT = 40;
constexpr int WIDTH = 60;
constexpr int PLANE = HEIGHT * WIDTH;

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

__global__ void balance(const float* images, const float* gains, float* balanced, int* clipped) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= BATCH * PLANE) return;
    int b = i / PLANE, p = i % PLANE;
    bool over = false;
    for (int c = 0; c < 3; ++c) {
        size_t at = ((size_t)b * 3 + c) * PLANE + p;
        float v = images[at] * gains[b * 3 + c];
        if (v > 1.0f) {
            over = true;
            v = 1.0f;
        }
        balanced[at] = v;
    }
    if (over) atomicAdd(&clipped[b], 1);
}

int main() {
    const size_t imagesSize = (size_t)BATCH * 3 * HEIGHT * WIDTH;
    const size_t gainsSize = (size_t)BATCH * 3;
    std::vector<float> images(imagesSize);
    std::vector<float> gains(gainsSize);
    std::vector<float> balanced(imagesSize);
    std::vector<int> clipped(BATCH);
    if (!load("data/images.bin", images.data(), imagesSize * sizeof(float)) ||
        !load("data/gains.bin", gains.data(), gainsSize * sizeof(float))) {
        std::fprintf(stderr, "input files missing or short\n");
        return 1;
    }

    float *d_images = nullptr, *d_gains = nullptr, *d_balanced = nullptr;
    int *d_clipped = nullptr;
    checkCuda(cudaMalloc(&d_images, imagesSize * sizeof(float)), "malloc images");
    checkCuda(cudaMalloc(&d_gains, gainsSize * sizeof(float)), "malloc gains");
    checkCuda(cudaMalloc(&d_balanced, imagesSize * sizeof(float)), "malloc balanced");
    checkCuda(cudaMalloc(&d_clipped, BATCH * sizeof(int)), "malloc clipped");
    checkCuda(cudaMemcpy(d_images, images.data(), imagesSize * sizeof(float), cudaMemcpyHostToDevice),
          "copy images");
    checkCuda(cudaMemcpy(d_gains, gains.data(), gainsSize * sizeof(float), cudaMemcpyHostToDevice),
          "copy gains");
    checkCuda(cudaMemset(d_clipped, 0, BATCH * sizeof(int)), "memset");

    const int block = 256;
    balance<<<(BATCH * PLANE + block - 1) / block, block>>>(d_images, d_gains, d_balanced, d_clipped);
    checkCuda(cudaGetLastError(), "launch");
    checkCuda(cudaMemcpy(balanced.data(), d_balanced, imagesSize * sizeof(float), cudaMemcpyDeviceToHost),
          "copy balanced");
    checkCuda(cudaMemcpy(clipped.data(), d_clipped, BATCH * sizeof(int), cudaMemcpyDeviceToHost),
          "copy clipped");

    cudaFree(d_images);
    cudaFree(d_gains);
    cudaFree(d_balanced);
    cudaFree(d_clipped);
    if (!store("data/balanced.bin", balanced.data(), imagesSize * sizeof(float))) return 1;
    if (!store("data/clipped.bin", clipped.data(), BATCH * sizeof(int))) return 1;
    return 0;
}
