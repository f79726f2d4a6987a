#include <fstream>
#include <iostream>
#include <string>

#include <cuda_runtime.h>

void read_floats(const std::string& path, float* buffer, size_t count) {
    std::ifstream file(path, std::ios::binary);
    if (!file.read(reinterpret_cast<char*>(buffer), count * sizeof(float))) {
        std::cerr << "failed to read " << path << '\n';
        std::exit(1);
    }
}

void write_floats(const std::string& path, const float* buffer, size_t count) {
    std::ofstream file(path, std::ios::binary);
    file.write(reinterpret_cast<const char*>(buffer), count * sizeof(float));
}
//@given

#define ROWS 40
#define UNITS 150
#define HINGES 3

// A thread keeps its unit's hinges in registers and goes down the rows.
__global__ void piecewise_columns(const float* __restrict__ x, const float* __restrict__ slope,
                                  const float* __restrict__ knot, float* __restrict__ y) {
    const int u = blockIdx.x * blockDim.x + threadIdx.x;
    if (u >= UNITS) return;
    float a[HINGES], b[HINGES];
#pragma unroll
    for (int s = 0; s < HINGES; ++s) {
        a[s] = slope[s * UNITS + u];
        b[s] = knot[s * UNITS + u];
    }
    for (int r = blockIdx.y; r < ROWS; r += gridDim.y) {
        const float v = x[r * UNITS + u];
        float sum = fmaxf(v, 0.0f);
#pragma unroll
        for (int s = 0; s < HINGES; ++s) sum = fmaf(a[s], fmaxf(b[s] - v, 0.0f), sum);
        y[r * UNITS + u] = sum;
    }
}

int main() {
    const int size = ROWS * UNITS;
    const int numel = HINGES * UNITS;
    float* h_x = new float[size];
    float* h_slope = new float[numel];
    float* h_knot = new float[numel];
    float* h_y = new float[size];
    read_floats("data/x.bin", h_x, size);
    read_floats("data/slope.bin", h_slope, numel);
    read_floats("data/knot.bin", h_knot, numel);

    float *d_x, *d_slope, *d_knot, *d_y;
    cudaMalloc(&d_x, size * sizeof(float));
    cudaMalloc(&d_slope, numel * sizeof(float));
    cudaMalloc(&d_knot, numel * sizeof(float));
    cudaMalloc(&d_y, size * sizeof(float));
    cudaMemcpy(d_x, h_x, size * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_slope, h_slope, numel * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_knot, h_knot, numel * sizeof(float), cudaMemcpyHostToDevice);

    dim3 grid((UNITS + 128 - 1) / 128, min(ROWS, 128));
    piecewise_columns<<<grid, 128>>>(d_x, d_slope, d_knot, d_y);
    cudaDeviceSynchronize();
    cudaMemcpy(h_y, d_y, size * sizeof(float), cudaMemcpyDeviceToHost);
    write_floats("data/y.bin", h_y, size);

    cudaFree(d_x);
    cudaFree(d_slope);
    cudaFree(d_knot);
    cudaFree(d_y);
    delete[] h_x;
    delete[] h_slope;
    delete[] h_knot;
    delete[] h_y;
    return 0;
}
