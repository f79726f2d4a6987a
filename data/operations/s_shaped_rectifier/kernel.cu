#include <fstream>
#include <iostream>
#include <vector>
#include <cuda_runtime.h>

constexpr int kRows = 50;
constexpr int kCols = 200;
const int ROWS_PER_BLOCK = 64;

__global__ void srelu_strips(const float* __restrict__ x, const float* __restrict__ params, float* __restrict__ y) {
  const int col = blockIdx.x * 32 + threadIdx.x;
  if (col >= kCols) return;
  const float tr = params[col], ar = params[kCols + col];
  const float tl = params[2 * kCols + col], al = params[3 * kCols + col];
  const int first = blockIdx.y * ROWS_PER_BLOCK;
  const int last = min(first + ROWS_PER_BLOCK, kRows);
  for (int r = first + threadIdx.y; r < last; r += 8) {
    const size_t at = (size_t)r * kCols + col;
    const float v = x[at];
    const float over = fmaxf(v - tr, 0.0f);
    const float under = fminf(v - tl, 0.0f);
    y[at] = fminf(fmaxf(v, tl), tr) + ar * over + al * under;
  }
}

int main() {
  const int count = kRows * kCols;
  const size_t n_params = 4 * kCols;
  std::vector<float> h_x(count);
  std::vector<float> h_params(n_params);
  std::vector<float> h_y(count);
  std::ifstream in_x("data/x.bin", std::ios::binary);
  in_x.read(reinterpret_cast<char*>(h_x.data()), count * sizeof(float));
  if (!in_x) {
    std::cerr << "failed to read data/x.bin" << std::endl;
    return 1;
  }
  std::ifstream fin_params("data/params.bin", std::ios::binary);
  fin_params.read(reinterpret_cast<char*>(h_params.data()), n_params * sizeof(float));
  if (!fin_params) {
    std::cerr << "missing or incomplete file data/params.bin" << std::endl;
    return 1;
  }

  float *d_x, *d_params, *d_y;
  cudaMalloc(&d_x, count * sizeof(float));
  cudaMalloc(&d_params, n_params * sizeof(float));
  cudaMalloc(&d_y, count * sizeof(float));
  cudaMemcpy(d_x, h_x.data(), count * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemcpy(d_params, h_params.data(), n_params * sizeof(float), cudaMemcpyHostToDevice);
  dim3 block(32, 8);
  dim3 grid((kCols + 31) / 32, (kRows + ROWS_PER_BLOCK - 1) / ROWS_PER_BLOCK);
  srelu_strips<<<grid, block>>>(d_x, d_params, d_y);
  cudaError_t error = cudaGetLastError();
  if (error != cudaSuccess) {
    std::cerr << "kernel failed: " << cudaGetErrorString(error) << std::endl;
    return 1;
  }

  cudaMemcpy(h_y.data(), d_y, count * sizeof(float), cudaMemcpyDeviceToHost);
  std::ofstream result_file("data/y.bin", std::ios::binary);
  result_file.write(reinterpret_cast<char*>(h_y.data()), count * sizeof(float));
  cudaFree(d_x);
  cudaFree(d_params);
  cudaFree(d_y);
  return 0;
}
