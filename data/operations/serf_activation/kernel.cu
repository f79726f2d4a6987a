#include <cstdio>
#include <cstdlib>
#include <vector>
#include <cuda_runtime.h>

const int ROWS = 40;
const int COLS = 500;

bool load(const char* path, std::vector<float>& v) {
    FILE* f = fopen(path, "rb");
    if (!f) return false;
    bool ok = fread(v.data(), sizeof(float), v.size(), f) == v.size();
    fclose(f);
    return ok;
}

bool save(const char* path, const std::vector<float>& v) {
    FILE* f = fopen(path, "wb");
    if (!f) return false;
    bool ok = fwrite(v.data(), sizeof(float), v.size(), f) == v.size();
    fclose(f);
    return ok;
}

static void require(cudaError_t err, const char* what) {
    if (err != cudaSuccess) {
        fprintf(stderr, "CUDA error in %s: %s\n", what, cudaGetErrorString(err));
        exit(1);
    }
}

// ln(1 + e^v) without overflow, then erf
__device__ float serf_value(float v) {
    float soft = v > 20.0f ? v : log1pf(expf(v));
    return v * erff(soft);
}

__global__ void serf_grid_stride(const float* __restrict__ x, float* __restrict__ y, int n) {
    int stride = blockDim.x * gridDim.x;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride) {
        y[i] = serf_value(x[i]);
    }
}

int main(void) {
    const int n = ROWS * COLS;
    const size_t bytes = n * sizeof(float);
    std::vector<float> h_x(n);
    std::vector<float> h_y(n);
    if (!load("data/x.bin", h_x)) {
        fprintf(stderr, "cannot read data/x.bin\n");
        return 1;
    }

    float *d_x, *d_y;
    require(cudaMalloc(&d_x, bytes), "cudaMalloc x");
    require(cudaMalloc(&d_y, bytes), "cudaMalloc y");
    require(cudaMemcpy(d_x, h_x.data(), bytes, cudaMemcpyHostToDevice), "memcpy x");

    int block = 128;
    int grid = min((n + block - 1) / block, 4096);
    serf_grid_stride<<<grid, block>>>(d_x, d_y, n);
    require(cudaGetLastError(), "kernel");
    require(cudaMemcpy(h_y.data(), d_y, bytes, cudaMemcpyDeviceToHost), "result");

    if (!save("data/y.bin", h_y)) {
        fprintf(stderr, "cannot write data/y.bin\n");
        return 1;
    }
    cudaFree(d_x);
    cudaFree(d_y);
    return 0;
}
