#include <cuda_runtime.h>
#include <fstream>
#include <iostream>
#include <string>

void read_floats(const std::string& path, float* out, size_t size) {
    std::ifstream file(path, std::ios::binary);
    if (!file.read(reinterpret_cast<char*>(out), size * sizeof(float))) {
        std::cerr << "cannot read " << path << std::endl;
        exit(1);
    }
}

void write_floats(const std::string& path, const float* in, size_t size) {
    std::ofstream file(path, std::ios::binary);
    file.write(reinterpret_cast<const char*>(in), size * sizeof(float));
}
//@given

constexpr int ROWS = 32;
constexpr int COLS = 450;

__global__ void blend(const float* a, const float* b, const float* row_weight, const float* col_weight, float* out) {
    int c = blockIdx.x * blockDim.x + threadIdx.x;
    int r = blockIdx.y * blockDim.y + threadIdx.y;
    if (r < ROWS && c < COLS) {
        int i = r * COLS + c;
        float w = row_weight[r] * col_weight[c];
        out[i] = a[i] + w * (b[i] - a[i]);
    }
}

int main() {
    const int elements = ROWS * COLS;
    float* h_a = new float[elements];
    float* h_b = new float[elements];
    float* h_row_weight = new float[ROWS];
    float* h_col_weight = new float[COLS];
    float* h_out = new float[elements];
    read_floats("data/a.bin", h_a, elements);
    read_floats("data/b.bin", h_b, elements);
    read_floats("data/row_weight.bin", h_row_weight, ROWS);
    read_floats("data/col_weight.bin", h_col_weight, COLS);

    float *d_a, *d_b, *d_row_weight, *d_col_weight, *d_out;
    cudaMalloc(&d_a, elements * sizeof(float));
    cudaMalloc(&d_b, elements * sizeof(float));
    cudaMalloc(&d_row_weight, ROWS * sizeof(float));
    cudaMalloc(&d_col_weight, COLS * sizeof(float));
    cudaMalloc(&d_out, elements * sizeof(float));
    cudaMemcpy(d_a, h_a, elements * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_b, h_b, elements * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_row_weight, h_row_weight, ROWS * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_col_weight, h_col_weight, COLS * sizeof(float), cudaMemcpyHostToDevice);

    dim3 block(32, 8);
    dim3 grid((COLS + block.x - 1) / block.x, (ROWS + block.y - 1) / block.y);
    blend<<<grid, block>>>(d_a, d_b, d_row_weight, d_col_weight, d_out);
    cudaError_t rc = cudaDeviceSynchronize();
    if (rc != cudaSuccess) {
        std::cerr << "CUDA error: " << cudaGetErrorString(rc) << std::endl;
        return 1;
    }

    cudaMemcpy(h_out, d_out, elements * sizeof(float), cudaMemcpyDeviceToHost);
    write_floats("data/out.bin", h_out, elements);

    cudaFree(d_a);
    cudaFree(d_b);
    cudaFree(d_row_weight);
    cudaFree(d_col_weight);
    cudaFree(d_out);
    delete[] h_a;
    delete[] h_b;
    delete[] h_row_weight;
    delete[] h_col_weight;
    delete[] h_out;
    return 0;
}
