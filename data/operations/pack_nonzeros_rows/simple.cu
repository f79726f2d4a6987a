#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>
#include <cuda_runtime.h>

void load(const std::string& path, void* dst, size_t bytes) {
    std::ifstream file(path, std::ios::binary);
    if (!file.is_open()) {
        std::cerr << "Cannot open " << path << std::endl;
        exit(1);
    }
    file.read(reinterpret_cast<char*>(dst), bytes);
}

void save(const std::string& path, const void* dst, size_t bytes) {
    std::ofstream stream(path, std::ios::binary);
    stream.write(reinterpret_cast<const char*>(dst), bytes);
}
//@given

static int ceil_div(int a, int b) { return (a + b - 1) / b; }

constexpr int kRows = 60;
constexpr int kCols = 300;

__global__ void pack_rows(const float* x, float* packed, int* columns, int* count) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= kRows) return;
    size_t base = (size_t)r * kCols;
    int n = 0;
    for (int c = 0; c < kCols; ++c) {
        float v = x[base + c];
        if (v != 0.0f) {
            packed[base + n] = v;
            columns[base + n] = c;
            ++n;
        }
    }
    for (int k = n; k < kCols; ++k) {
        packed[base + k] = 0.0f;
        columns[base + k] = -1;
    }
    count[r] = n;
}

int main() {
    const size_t elements = (size_t)kRows * kCols;
    float* host_x = (float*)malloc(elements * sizeof(float));
    float* host_packed = (float*)malloc(elements * sizeof(float));
    int* host_columns = (int*)malloc(elements * sizeof(int));
    int* host_count = (int*)malloc(kRows * sizeof(int));
    load("data/x.bin", host_x, elements * sizeof(float));

    float* d_x = nullptr;
    float* d_packed = nullptr;
    int* d_columns = nullptr;
    int* d_count = nullptr;
    cudaMalloc(&d_x, elements * sizeof(float));
    cudaMalloc(&d_packed, elements * sizeof(float));
    cudaMalloc(&d_columns, elements * sizeof(int));
    cudaMalloc(&d_count, kRows * sizeof(int));
    cudaMemcpy(d_x, host_x, elements * sizeof(float), cudaMemcpyHostToDevice);

    int grid = ceil_div(kRows, 32);
    pack_rows<<<grid, 32>>>(d_x, d_packed, d_columns, d_count);
    cudaError_t err = cudaGetLastError();
    if (err != cudaSuccess) {
        std::cerr << "launch: " << cudaGetErrorString(err) << std::endl;
        return 1;
    }

    cudaMemcpy(host_packed, d_packed, elements * sizeof(float), cudaMemcpyDeviceToHost);
    cudaMemcpy(host_columns, d_columns, elements * sizeof(int), cudaMemcpyDeviceToHost);
    cudaMemcpy(host_count, d_count, kRows * sizeof(int), cudaMemcpyDeviceToHost);
    save("data/packed.bin", host_packed, elements * sizeof(float));
    save("data/columns.bin", host_columns, elements * sizeof(int));
    save("data/count.bin", host_count, kRows * sizeof(int));

    cudaFree(d_x);
    cudaFree(d_packed);
    cudaFree(d_columns);
    cudaFree(d_count);
    free(host_x);
    free(host_packed);
    free(host_columns);
    free(host_count);
    return 0;
}
