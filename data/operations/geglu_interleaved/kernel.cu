#include <cstdio>
#include <cstdlib>
#include <vector>

#include <cuda_runtime.h>

constexpr int kRows = 30;
constexpr int kWidth = 333;

static void check_cuda(cudaError_t err, const char* what) {
    if (err != cudaSuccess) {
        fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(err));
        exit(1);
    }
}

bool input(const char* path, void* data, size_t bytes) {
    FILE* f = fopen(path, "rb");
    if (f == nullptr) return false;
    const size_t got = fread(data, 1, bytes, f);
    fclose(f);
    return got == bytes;
}

bool output(const char* path, const void* data, size_t bytes) {
    FILE* f = fopen(path, "wb");
    if (f == nullptr) return false;
    bool ok = fwrite(data, 1, bytes, f) == bytes;
    fclose(f);
    return ok;
}

// A gate and its value are one float2.
__global__ void gated_gauss_pairs(const float2* __restrict__ u, float* __restrict__ y, int n) {
    const int stride = gridDim.x * blockDim.x;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride) {
        const float2 p = u[i];
        y[i] = p.x * p.y * normcdff(p.x);
    }
}

int main() {
    const int n = kRows * kWidth;
    const size_t n_u = kRows * (kWidth * 2);
    std::vector<float> u(n_u);
    std::vector<float> y(n);
    if (!input("data/u.bin", u.data(), n_u * sizeof(float))) {
        fprintf(stderr, "cannot read data/u.bin\n");
        return 1;
    }

    float *d_u, *d_y;
    check_cuda(cudaMalloc(&d_u, n_u * sizeof(float)), "cudaMalloc u");
    check_cuda(cudaMalloc(&d_y, n * sizeof(float)), "cudaMalloc y");
    check_cuda(cudaMemcpy(d_u, u.data(), n_u * sizeof(float), cudaMemcpyHostToDevice), "copy u");

    const int blocks = min((n + 256 - 1) / 256, 2048);
    gated_gauss_pairs<<<blocks, 256>>>(reinterpret_cast<const float2*>(d_u), d_y, n);
    check_cuda(cudaGetLastError(), "kernel");
    check_cuda(cudaMemcpy(y.data(), d_y, n * sizeof(float), cudaMemcpyDeviceToHost), "result");

    if (!output("data/y.bin", y.data(), n * sizeof(float))) {
        fprintf(stderr, "cannot write data/y.bin\n");
        return 1;
    }
    cudaFree(d_y);
    cudaFree(d_u);
    return 0;
}
