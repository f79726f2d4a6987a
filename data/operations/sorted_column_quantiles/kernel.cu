#include <fstream>
#include <iostream>
#include <vector>
#include <cuda_runtime.h>

const int ROWS = 50;
const int COLS = 200;
const int QUANTILES = 9;
const int BLOCK = 128;
const int ALL = QUANTILES + 2;

// Places and weights are the same for all columns; the block prepares them once, the quartiles as two extra levels.
__global__ void quantiles_fused(const float* __restrict__ table, const float* __restrict__ levels,
                                float* __restrict__ result, float* __restrict__ spread) {
  __shared__ int place[ALL];
  __shared__ float weight[ALL];
  for (int q = threadIdx.x; q < ALL; q += BLOCK) {
    const float p = q < QUANTILES ? levels[q] : (q == QUANTILES ? 0.25f : 0.75f);
    const float h = p * (float)(ROWS - 1);
    const int k = min((int)h, ROWS - 1);
    place[q] = k;
    weight[q] = k < ROWS - 1 ? h - (float)k : 0.0f;
  }
  __syncthreads();
  const int c = blockIdx.x * BLOCK + threadIdx.x;
  if (c >= COLS) return;
  float quartile = 0.0f;
  for (int q = 0; q < ALL; ++q) {
    float v = table[(size_t)place[q] * COLS + c];
    if (weight[q] != 0.0f) v += weight[q] * (table[(size_t)(place[q] + 1) * COLS + c] - v);
    if (q < QUANTILES) result[(size_t)q * COLS + c] = v;
    else if (q == QUANTILES) quartile = v;
    else spread[c] = v - quartile;
  }
}

int main() {
  const size_t n_table = ROWS * COLS;
  const size_t n_result = QUANTILES * COLS;
  std::vector<float> h_table(n_table);
  std::vector<float> h_levels(QUANTILES);
  std::vector<float> h_result(n_result);
  std::vector<float> h_spread(COLS);

  std::ifstream in_table("data/table.bin", std::ios::binary);
  in_table.read(reinterpret_cast<char*>(h_table.data()), n_table * sizeof(float));
  if (!in_table) {
    std::cerr << "could not read data/table.bin" << std::endl;
    return 1;
  }
  std::ifstream in_levels("data/levels.bin", std::ios::binary);
  in_levels.read(reinterpret_cast<char*>(h_levels.data()), QUANTILES * sizeof(float));
  if (!in_levels) {
    std::cerr << "could not read data/levels.bin" << std::endl;
    return 1;
  }

  float *d_table = nullptr, *d_levels = nullptr, *d_result = nullptr, *d_spread = nullptr;
  cudaMalloc(&d_table, n_table * sizeof(float));
  cudaMalloc(&d_levels, QUANTILES * sizeof(float));
  cudaMalloc(&d_result, n_result * sizeof(float));
  cudaMalloc(&d_spread, COLS * sizeof(float));
  cudaMemcpy(d_table, h_table.data(), n_table * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemcpy(d_levels, h_levels.data(), QUANTILES * sizeof(float), cudaMemcpyHostToDevice);

  quantiles_fused<<<(COLS + BLOCK - 1) / BLOCK, BLOCK>>>(d_table, d_levels, d_result, d_spread);
  cudaError_t rc = cudaDeviceSynchronize();
  if (rc != cudaSuccess) {
    std::cerr << "kernel failed: " << cudaGetErrorString(rc) << std::endl;
    return 1;
  }

  cudaMemcpy(h_result.data(), d_result, n_result * sizeof(float), cudaMemcpyDeviceToHost);
  cudaMemcpy(h_spread.data(), d_spread, COLS * sizeof(float), cudaMemcpyDeviceToHost);
  std::ofstream out_result("data/result.bin", std::ios::binary);
  out_result.write(reinterpret_cast<char*>(h_result.data()), n_result * sizeof(float));
  std::ofstream out_spread("data/spread.bin", std::ios::binary);
  out_spread.write(reinterpret_cast<char*>(h_spread.data()), COLS * sizeof(float));

  cudaFree(d_table);
  cudaFree(d_levels);
  cudaFree(d_result);
  cudaFree(d_spread);
  return 0;
}
