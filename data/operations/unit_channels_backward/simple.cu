#include <cstdio>
#include <cstdlib>
#include <vector>
#include <cuda_runtime.h>

constexpr int kBatch = 2;
constexpr int kChannels = 16;
constexpr int kPixels = 500;

__global__ void unit_backward(const float* x, const float* dy, float* dx) {
    int p = blockIdx.x * blockDim.x + threadIdx.x;
    if (p >= kPixels) return;
    size_t base = (size_t)blockIdx.y * kChannels * kPixels + p;
    float sq = 0.0f, dot = 0.0f;
    for (int c = 0; c < kChannels; ++c) {
        size_t i = base + (size_t)c * kPixels;
        sq += x[i] * x[i];
        dot += x[i] * dy[i];
    }
    float length = sqrtf(sq + 1e-10f);
    for (int c = 0; c < kChannels; ++c) {
        size_t i = base + (size_t)c * kPixels;
        float y = x[i] / length;
        dx[i] = (dy[i] - y * (dot / length)) / length;
    }
}

static inline void verify(cudaError_t code, const char* what) {
    if (code != cudaSuccess) {
        fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(code));
        exit(1);
    }
}

static bool load_raw(const char* path, void* dst, size_t bytes) {
    FILE* fp = fopen(path, "rb");
    if (!fp) return false;
    bool ok = fread(dst, 1, bytes, fp) == bytes;
    fclose(fp);
    return ok;
}

static bool store_raw(const char* path, const void* src, size_t bytes) {
    FILE* fp = fopen(path, "wb");
    if (!fp) return false;
    bool ok = fwrite(src, 1, bytes, fp) == bytes;
    fclose(fp);
    return ok;
}

int main() {
    const size_t n_total = kBatch * kChannels * kPixels;
    std::vector<float> h_x(n_total);
    std::vector<float> h_dy(n_total);
    std::vector<float> h_dx(n_total);
    if (!load_raw("data/x.bin", h_x.data(), n_total * sizeof(float))) {
        fprintf(stderr, "cannot read x\n");
        return 1;
    }
    if (!load_raw("data/dy.bin", h_dy.data(), n_total * sizeof(float))) {
        fprintf(stderr, "cannot read dy\n");
        return 1;
    }

    float *d_x = nullptr, *d_dy = nullptr, *d_dx = nullptr;
    verify(cudaMalloc(&d_x, n_total * sizeof(float)), "alloc x");
    verify(cudaMalloc(&d_dy, n_total * sizeof(float)), "malloc dy");
    verify(cudaMalloc(&d_dx, n_total * sizeof(float)), "alloc dx");
    verify(cudaMemcpy(d_x, h_x.data(), n_total * sizeof(float), cudaMemcpyHostToDevice), "copy x");
    verify(cudaMemcpy(d_dy, h_dy.data(), n_total * sizeof(float), cudaMemcpyHostToDevice), "copy dy");

    dim3 grid((kPixels + 256 - 1) / 256, kBatch);
    unit_backward<<<grid, 256>>>(d_x, d_dy, d_dx);
    verify(cudaGetLastError(), "launch");
    verify(cudaDeviceSynchronize(), "kernel");
    verify(cudaMemcpy(h_dx.data(), d_dx, n_total * sizeof(float), cudaMemcpyDeviceToHost), "copy dx");

    if (!store_raw("data/dx.bin", h_dx.data(), n_total * sizeof(float))) {
        fprintf(stderr, "cannot write dx\n");
        return 1;
    }
    cudaFree(d_x);
    cudaFree(d_dy);
    cudaFree(d_dx);
    return 0;
}
