#include <cstdio>
#include <cstdlib>
#include <vector>
#include <cuda_runtime.h>

static inline void require(cudaError_t err, const char* what) {
    if (err != cudaSuccess) {
        fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(err));
        exit(1);
    }
}

bool readBinary(const char* path, std::vector<float>& v) {
    FILE* f = fopen(path, "rb");
    if (f == nullptr) return false;
    const size_t got = fread(v.data(), sizeof(float), v.size(), f);
    fclose(f);
    return got == v.size();
}

bool writeBinary(const char* path, const std::vector<float>& v) {
    FILE* f = fopen(path, "wb");
    if (f == nullptr) return false;
    bool ok = fwrite(v.data(), sizeof(float), v.size(), f) == v.size();
    ok = fclose(f) == 0 && ok;
    return ok;
}

#define N 30000

// Without branches: clamp to [-2, 2], then y = v - v|v|/4.
__device__ __forceinline__ void parabola(float v, float* y, float* slope) {
    v = fminf(fmaxf(v, -2.0f), 2.0f);
    const float h = fmaf(-0.5f, fabsf(v), 1.0f);
    *slope = h;
    *y = 0.5f * v * (1.0f + h);
}

__global__ void sqnl_four(const float* __restrict__ x, float* __restrict__ y, float* __restrict__ slope, int n) {
    const int base = 4 * (blockIdx.x * blockDim.x + threadIdx.x);
    if (base + 4 <= n) {
        const float4 v = *reinterpret_cast<const float4*>(x + base);
        float4 a, b;
        parabola(v.x, &a.x, &b.x);
        parabola(v.y, &a.y, &b.y);
        parabola(v.z, &a.z, &b.z);
        parabola(v.w, &a.w, &b.w);
        *reinterpret_cast<float4*>(y + base) = a;
        *reinterpret_cast<float4*>(slope + base) = b;
    } else {
        for (int i = base; i < n; ++i) parabola(x[i], &y[i], &slope[i]);
    }
}

int main() {
    const size_t bytes = N * sizeof(float);
    std::vector<float> h_x(N);
    std::vector<float> h_y(N);
    std::vector<float> h_slope(N);
    if (!readBinary("data/x.bin", h_x)) {
        fprintf(stderr, "cannot read data/x.bin\n");
        return 1;
    }

    float *d_x = nullptr, *d_y = nullptr, *d_slope = nullptr;
    require(cudaMalloc(&d_x, bytes), "cudaMalloc x");
    require(cudaMalloc(&d_y, bytes), "cudaMalloc y");
    require(cudaMalloc(&d_slope, bytes), "cudaMalloc slope");
    require(cudaMemcpy(d_x, h_x.data(), bytes, cudaMemcpyHostToDevice), "upload x");

    const int blocks = (N + 1024 - 1) / 1024;
    sqnl_four<<<blocks, 256>>>(d_x, d_y, d_slope, N);
    require(cudaGetLastError(), "kernel launch");
    require(cudaMemcpy(h_y.data(), d_y, bytes, cudaMemcpyDeviceToHost), "result");
    require(cudaMemcpy(h_slope.data(), d_slope, bytes, cudaMemcpyDeviceToHost), "result");

    if (!writeBinary("data/y.bin", h_y)) {
        fprintf(stderr, "cannot write data/y.bin\n");
        return 1;
    }
    if (!writeBinary("data/slope.bin", h_slope)) {
        fprintf(stderr, "cannot write data/slope.bin\n");
        return 1;
    }
    cudaFree(d_x);
    cudaFree(d_y);
    cudaFree(d_slope);
    return 0;
}
