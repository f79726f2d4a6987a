#include <fstream>
#include <iostream>
#include <vector>
#include <cuda_runtime.h>

#define ROWS 60
#define COLS 100
#define ENTRIES 3000
#define TOTAL (ROWS * COLS)

__global__ void scatterEntries(const int* row, const int* col, const float* value, float* dense) {
  int k = blockIdx.x * blockDim.x + threadIdx.x;
  if (k < ENTRIES && col[k] >= 0) {
    atomicAdd(&dense[row[k] * COLS + col[k]], value[k]);
  }
}

int main() {
  std::vector<int> h_row(ENTRIES);
  std::vector<int> h_col(ENTRIES);
  std::vector<float> h_value(ENTRIES);
  std::vector<float> h_dense(TOTAL);
  std::ifstream is_row("data/row.bin", std::ios::binary);
  is_row.read(reinterpret_cast<char*>(h_row.data()), ENTRIES * sizeof(int));
  if (!is_row) {
    std::cerr << "failed to read data/row.bin" << std::endl;
    return 1;
  }
  std::ifstream is_col("data/col.bin", std::ios::binary);
  is_col.read(reinterpret_cast<char*>(h_col.data()), ENTRIES * sizeof(int));
  if (!is_col) {
    std::cerr << "failed to read data/col.bin" << std::endl;
    return 1;
  }
  std::ifstream is_value("data/value.bin", std::ios::binary);
  is_value.read(reinterpret_cast<char*>(h_value.data()), ENTRIES * sizeof(float));
  if (!is_value) {
    std::cerr << "cannot read data/value.bin" << std::endl;
    return 1;
  }

  int *d_row, *d_col;
  float *d_value, *d_dense;
  cudaMalloc(&d_row, ENTRIES * sizeof(int));
  cudaMemcpy(d_row, h_row.data(), ENTRIES * sizeof(int), cudaMemcpyHostToDevice);
  cudaMalloc(&d_col, ENTRIES * sizeof(int));
  cudaMemcpy(d_col, h_col.data(), ENTRIES * sizeof(int), cudaMemcpyHostToDevice);
  cudaMalloc(&d_value, ENTRIES * sizeof(float));
  cudaMemcpy(d_value, h_value.data(), ENTRIES * sizeof(float), cudaMemcpyHostToDevice);
  cudaMalloc(&d_dense, TOTAL * sizeof(float));

  cudaMemset(d_dense, 0, TOTAL * sizeof(float));
  int threads = 256;
  int blocks = (ENTRIES + threads - 1) / threads;
  scatterEntries<<<blocks, threads>>>(d_row, d_col, d_value, d_dense);
  cudaError_t status = cudaDeviceSynchronize();
  if (status != cudaSuccess) {
    std::cerr << "CUDA error: " << cudaGetErrorString(status) << std::endl;
    return 1;
  }

  cudaMemcpy(h_dense.data(), d_dense, TOTAL * sizeof(float), cudaMemcpyDeviceToHost);

  std::ofstream out("data/dense.bin", std::ios::binary);
  out.write(reinterpret_cast<const char*>(h_dense.data()), TOTAL * sizeof(float));

  cudaFree(d_row);
  cudaFree(d_col);
  cudaFree(d_value);
  cudaFree(d_dense);
  return 0;
}
