#include <cstdio>
#include <cstdlib>
#include <vector>
#include <cuda_runtime.h>

constexpr int kRows = 50;
constexpr int kCols = 400;

inline void checkCuda(cudaError_t status, const char* what) {
    if (status != cudaSuccess) {
        fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(status));
        exit(1);
    }
}

static bool loadBytes(const char* path, void* data, size_t bytes) {
    FILE* f = fopen(path, "rb");
    if (!f) return false;
    bool ok = fread(data, 1, bytes, f) == bytes;
    fclose(f);
    return ok;
}

static bool saveBytes(const char* path, const void* data, size_t bytes) {
    FILE* f = fopen(path, "wb");
    if (!f) return false;
    bool ok = fwrite(data, 1, bytes, f) == bytes;
    fclose(f);
    return ok;
}

__global__ void fill_gaps(const float* x, const unsigned char* known, float* y) {
    int c = blockIdx.x * blockDim.x + threadIdx.x;
    int r = blockIdx.y;
    if (c >= kCols) return;
    const float* row = x + (size_t)r * kCols;
    const unsigned char* ok = known + (size_t)r * kCols;
    int p = c;
    while (p >= 0 && !ok[p]) --p;
    int q = c;
    while (q < kCols && !ok[q]) ++q;
    float v = 0.0f;
    if (p == c) v = row[c];
    else if (p >= 0 && q < kCols) v = row[p] + (row[q] - row[p]) * (c - p) / (q - p);
    else if (p >= 0) v = row[p];
    else if (q < kCols) v = row[q];
    y[(size_t)r * kCols + c] = v;
}

int main() {
    std::vector<float> h_x(kRows * kCols);
    std::vector<unsigned char> h_known(kRows * kCols);
    std::vector<float> h_y(kRows * kCols);
    if (!loadBytes("data/x.bin", h_x.data(), kRows * kCols * sizeof(float))) {
        fprintf(stderr, "cannot read data/x.bin\n");
        return 1;
    }
    if (!loadBytes("data/known.bin", h_known.data(), kRows * kCols * sizeof(unsigned char))) {
        fprintf(stderr, "cannot read data/known.bin\n");
        return 1;
    }

    float* dev_x;
    float* dev_y;
    unsigned char* dev_known;
    checkCuda(cudaMalloc(&dev_x, kRows * kCols * sizeof(float)), "allocate dev_x");
    checkCuda(cudaMalloc(&dev_known, kRows * kCols * sizeof(unsigned char)), "allocate dev_known");
    checkCuda(cudaMalloc(&dev_y, kRows * kCols * sizeof(float)), "allocate dev_y");
    checkCuda(cudaMemcpy(dev_x, h_x.data(), kRows * kCols * sizeof(float), cudaMemcpyHostToDevice), "copy dev_x");
    checkCuda(cudaMemcpy(dev_known, h_known.data(), kRows * kCols * sizeof(unsigned char),
        cudaMemcpyHostToDevice), "copy dev_known");

    dim3 grid((kCols + 128 - 1) / 128, kRows);
    fill_gaps<<<grid, 128>>>(dev_x, dev_known, dev_y);
    checkCuda(cudaGetLastError(), "launch");
    checkCuda(cudaMemcpy(h_y.data(), dev_y, kRows * kCols * sizeof(float), cudaMemcpyDeviceToHost), "copy h_y");

    if (!saveBytes("data/y.bin", h_y.data(), kRows * kCols * sizeof(float))) {
        fprintf(stderr, "cannot write data/y.bin\n");
        return 1;
    }
    cudaFree(dev_x);
    cudaFree(dev_known);
    cudaFree(dev_y);
    return 0;
}
