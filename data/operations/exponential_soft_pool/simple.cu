#include <cfloat>
#include <cstdio>
#include <cstdlib>
#include <vector>
#include <cuda_runtime.h>

static const int kHeight = 40;
static const int kWidth = 50;
static const int kChannels = 16;

static inline void check(cudaError_t code, const char* what) {
    if (code != cudaSuccess) {
        fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(code));
        exit(1);
    }
}

static bool read_all(const char* path, void* dst, size_t bytes) {
    FILE* file = fopen(path, "rb");
    if (!file) return false;
    bool ok = fread(dst, 1, bytes, file) == bytes;
    fclose(file);
    return ok;
}

static bool write_all(const char* path, const void* src, size_t bytes) {
    FILE* file = fopen(path, "wb");
    if (!file) return false;
    bool ok = fwrite(src, 1, bytes, file) == bytes;
    fclose(file);
    return ok;
}

__global__ void soft_pool(const float* x, float* y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= (kHeight / 2) * (kWidth / 2) * kChannels) return;
    int ch = i % kChannels;
    int col = i / kChannels % (kWidth / 2);
    int row = i / kChannels / (kWidth / 2);
    float v[4];
    float top = -FLT_MAX;
    for (int k = 0; k < 4; ++k) {
        v[k] = x[((2 * row + k / 2) * kWidth + 2 * col + k % 2) * kChannels + ch];
        top = fmaxf(top, v[k]);
    }
    float num = 0.0f, den = 0.0f;
    for (int k = 0; k < 4; ++k) {
        float w = expf(v[k] - top);
        num += w * v[k];
        den += w;
    }
    y[i] = num / den;
}

int main() {
    const int x_count = kHeight * kWidth * kChannels;
    const int y_count = (kHeight / 2) * (kWidth / 2) * kChannels;
    std::vector<float> h_x(x_count);
    std::vector<float> h_y(y_count);
    if (!read_all("data/x.bin", h_x.data(), x_count * sizeof(float))) {
        fprintf(stderr, "reading input failed\n");
        return 1;
    }

    float* d_x = nullptr;
    float* d_y = nullptr;
    check(cudaMalloc(&d_x, x_count * sizeof(float)), "alloc x");
    check(cudaMalloc(&d_y, y_count * sizeof(float)), "malloc y");
    check(cudaMemcpy(d_x, h_x.data(), x_count * sizeof(float), cudaMemcpyHostToDevice), "copy x");

    int outputs = (kHeight / 2) * (kWidth / 2) * kChannels;
    soft_pool<<<(outputs + 256 - 1) / 256, 256>>>(d_x, d_y);
    check(cudaGetLastError(), "launch");
    check(cudaDeviceSynchronize(), "kernel");
    check(cudaMemcpy(h_y.data(), d_y, y_count * sizeof(float), cudaMemcpyDeviceToHost), "copy y");

    if (!write_all("data/y.bin", h_y.data(), y_count * sizeof(float))) return 1;
    cudaFree(d_x);
    cudaFree(d_y);
    return 0;
}
