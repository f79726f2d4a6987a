#include <cuda_runtime.h>
#include <cstdio>
#include <cstdlib>
#include <vector>

constexpr int kRows = 100;
constexpr int kCols = 140;
constexpr int kDiagonals = kRows + kCols - 1;

inline void cuda_ok(cudaError_t status, const char* what) {
    if (status != cudaSuccess) {
        fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(status));
        exit(1);
    }
}

static bool readFile(const char* path, void* data, size_t bytes) {
    FILE* f = fopen(path, "rb");
    if (!f) return false;
    bool ok = fread(data, 1, bytes, f) == bytes;
    fclose(f);
    return ok;
}

static bool writeFile(const char* path, const void* data, size_t bytes) {
    FILE* f = fopen(path, "wb");
    if (!f) return false;
    bool ok = fwrite(data, 1, bytes, f) == bytes;
    fclose(f);
    return ok;
}

__global__ void diagonal_scan(const float* x, float* y) {
    int k = blockIdx.x * blockDim.x + threadIdx.x;
    if (k >= kDiagonals) return;
    int r = k < kRows ? kRows - 1 - k : 0;
    int c = k < kRows ? 0 : k - kRows + 1;
    float sum = 0.0f;
    for (; r < kRows && c < kCols; ++r, ++c) {
        sum += x[(size_t)r * kCols + c];
        y[(size_t)r * kCols + c] = sum;
    }
}

int main() {
    const size_t elements = (size_t)kRows * kCols;
    std::vector<float> h_x(elements);
    std::vector<float> h_y(elements);
    if (!readFile("data/x.bin", h_x.data(), elements * sizeof(float))) {
        fprintf(stderr, "cannot read data/x.bin\n");
        return 1;
    }

    float *x_d, *y_d;
    cuda_ok(cudaMalloc(&x_d, elements * sizeof(float)), "allocate x_d");
    cuda_ok(cudaMalloc(&y_d, elements * sizeof(float)), "allocate y_d");
    cuda_ok(cudaMemcpy(x_d, h_x.data(), elements * sizeof(float), cudaMemcpyHostToDevice), "copy x_d");

    int threads = 64;
    diagonal_scan<<<(kDiagonals + threads - 1) / threads, threads>>>(x_d, y_d);
    cuda_ok(cudaGetLastError(), "launch");
    cuda_ok(cudaMemcpy(h_y.data(), y_d, elements * sizeof(float), cudaMemcpyDeviceToHost), "copy h_y");

    if (!writeFile("data/y.bin", h_y.data(), elements * sizeof(float))) {
        fprintf(stderr, "cannot write data/y.bin\n");
        return 1;
    }
    cudaFree(x_d);
    cudaFree(y_d);
    return 0;
}
