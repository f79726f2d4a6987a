#include <cstdio>
#include <cstdlib>
#include <vector>
#include <cuda_runtime.h>

#define ROWS 40
#define UNITS 150
#define HINGES 3

__global__ void piecewise_units(const float* x, const float* slope, const float* knot, float* y) {
    int u = blockIdx.x * blockDim.x + threadIdx.x;
    int r = blockIdx.y * blockDim.y + threadIdx.y;
    if (u < UNITS && r < ROWS) {
        float v = x[r * UNITS + u];
        float sum = fmaxf(v, 0.0f);
        for (int s = 0; s < HINGES; ++s) {
            sum += slope[s * UNITS + u] * fmaxf(knot[s * UNITS + u] - v, 0.0f);
        }
        y[r * UNITS + u] = sum;
    }
}

static void read(const char* path, void* dst, size_t bytes) {
    FILE* f = fopen(path, "rb");
    if (!f || fread(dst, 1, bytes, f) != bytes) {
        perror(path);
        exit(1);
    }
    fclose(f);
}

void launch_adaptive(const float* d_x, const float* d_slope, const float* d_knot, float* d_y) {
    dim3 block(32, 8);
    dim3 grid((UNITS + 32 - 1) / 32, (ROWS + 8 - 1) / 8);
    piecewise_units<<<grid, block>>>(d_x, d_slope, d_knot, d_y);
}

int main() {
    const size_t n = ROWS * UNITS;
    const size_t numel = HINGES * UNITS;
    std::vector<float> x(n);
    std::vector<float> slope(numel);
    std::vector<float> knot(numel);
    std::vector<float> y(n);
    read("data/x.bin", x.data(), n * sizeof(float));
    read("data/slope.bin", slope.data(), numel * sizeof(float));
    read("data/knot.bin", knot.data(), numel * sizeof(float));

    float *d_x = nullptr, *d_slope = nullptr, *d_knot = nullptr, *d_y = nullptr;
    cudaMalloc(&d_x, n * sizeof(float));
    cudaMalloc(&d_slope, numel * sizeof(float));
    cudaMalloc(&d_knot, numel * sizeof(float));
    cudaMalloc(&d_y, n * sizeof(float));
    cudaMemcpy(d_x, x.data(), n * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_slope, slope.data(), numel * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_knot, knot.data(), numel * sizeof(float), cudaMemcpyHostToDevice);

    launch_adaptive(d_x, d_slope, d_knot, d_y);
    if (cudaGetLastError() != cudaSuccess) {
        fprintf(stderr, "kernel launch failed\n");
        return 1;
    }
    cudaMemcpy(y.data(), d_y, n * sizeof(float), cudaMemcpyDeviceToHost);

    FILE* out = fopen("data/y.bin", "wb");
    fwrite(y.data(), sizeof(float), y.size(), out);
    fclose(out);
    cudaFree(d_x);
    cudaFree(d_slope);
    cudaFree(d_knot);
    cudaFree(d_y);
    return 0;
}
