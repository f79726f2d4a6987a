#include <fstream>
#include <iostream>
#include <string>
#include <cuda_runtime.h>

void load_array(const std::string& path, float* data, size_t count) {
    std::ifstream file(path, std::ios::binary);
    file.read(reinterpret_cast<char*>(data), count * sizeof(float));
    if (!file) {
        std::cerr << "failed to read " << path << std::endl;
        exit(1);
    }
}

void save_array(const std::string& path, const float* data, size_t count) {
    std::ofstream file(path, std::ios::binary);
    file.write(reinterpret_cast<const char*>(data), count * sizeof(float));
}
//@given

#define ROWS 50
#define UNITS 120
#define KNOTS 9

__global__ void spline(const float* x, const float* table, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        float p = (x[i] + 3.0f) * (KNOTS - 1) / 6.0f;
        int k = (int)floorf(p);
        if (k < 0) k = 0;
        if (k > KNOTS - 2) k = KNOTS - 2;
        const float* t = table + (i % UNITS) * KNOTS + k;
        y[i] = t[0] + (p - k) * (t[1] - t[0]);
    }
}

int main() {
    const int n = ROWS * UNITS;
    const size_t n_table = UNITS * KNOTS;
    float* h_x = new float[n];
    float* h_table = new float[n_table];
    float* h_y = new float[n];
    load_array("data/x.bin", h_x, n);
    load_array("data/table.bin", h_table, n_table);

    float *d_x, *d_table, *d_y;
    cudaMalloc(&d_x, n * sizeof(float));
    cudaMalloc(&d_table, n_table * sizeof(float));
    cudaMalloc(&d_y, n * sizeof(float));
    cudaMemcpy(d_x, h_x, n * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_table, h_table, n_table * sizeof(float), cudaMemcpyHostToDevice);

    spline<<<(n + 256 - 1) / 256, 256>>>(d_x, d_table, d_y, n);
    cudaError_t err = cudaGetLastError();
    if (err != cudaSuccess) {
        std::cerr << "CUDA error: " << cudaGetErrorString(err) << std::endl;
        return 1;
    }

    cudaMemcpy(h_y, d_y, n * sizeof(float), cudaMemcpyDeviceToHost);
    save_array("data/y.bin", h_y, n);

    cudaFree(d_y);
    cudaFree(d_table);
    cudaFree(d_x);
    delete[] h_x;
    delete[] h_table;
    delete[] h_y;
    return 0;
}
