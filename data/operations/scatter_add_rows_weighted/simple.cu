#include <fstream>
#include <iostream>
#include <vector>
#include <cuda_runtime.h>

#define ROWS 60
#define COLS 40
#define UPDATES 400

__global__ void scatter_add(const float* source, const int* target, const float* weight, float* result) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < UPDATES * COLS) {
    int u = i / COLS;
    int row = target[u];
    if (row >= 0) atomicAdd(&result[row * COLS + i % COLS], weight[u] * source[i]);
  }
}

int main() {
  const size_t base_len = (size_t)ROWS * COLS;
  const size_t source_len = (size_t)UPDATES * COLS;
  std::vector<float> h_base(base_len);
  std::vector<float> h_source(source_len);
  std::vector<int> h_target(UPDATES);
  std::vector<float> h_weight(UPDATES);
  std::vector<float> h_result(base_len);
  std::ifstream base_file("data/base.bin", std::ios::binary);
  base_file.read(reinterpret_cast<char*>(h_base.data()), base_len * sizeof(float));
  if (!base_file) {
    std::cerr << "cannot read data/base.bin\n";
    return 1;
  }
  std::ifstream source_file("data/source.bin", std::ios::binary);
  source_file.read(reinterpret_cast<char*>(h_source.data()), source_len * sizeof(float));
  if (!source_file) {
    std::cerr << "cannot read data/source.bin\n";
    return 1;
  }
  std::ifstream target_file("data/target.bin", std::ios::binary);
  target_file.read(reinterpret_cast<char*>(h_target.data()), UPDATES * sizeof(int));
  if (!target_file) {
    std::cerr << "cannot read data/target.bin\n";
    return 1;
  }
  std::ifstream weight_file("data/weight.bin", std::ios::binary);
  weight_file.read(reinterpret_cast<char*>(h_weight.data()), UPDATES * sizeof(float));
  if (!weight_file) {
    std::cerr << "cannot read data/weight.bin\n";
    return 1;
  }

  float* d_base = nullptr;
  cudaMalloc(&d_base, base_len * sizeof(float));
  cudaMemcpy(d_base, h_base.data(), base_len * sizeof(float), cudaMemcpyHostToDevice);
  float* d_source = nullptr;
  cudaMalloc(&d_source, source_len * sizeof(float));
  cudaMemcpy(d_source, h_source.data(), source_len * sizeof(float), cudaMemcpyHostToDevice);
  int* d_target = nullptr;
  cudaMalloc(&d_target, UPDATES * sizeof(int));
  cudaMemcpy(d_target, h_target.data(), UPDATES * sizeof(int), cudaMemcpyHostToDevice);
  float* d_weight = nullptr;
  cudaMalloc(&d_weight, UPDATES * sizeof(float));
  cudaMemcpy(d_weight, h_weight.data(), UPDATES * sizeof(float), cudaMemcpyHostToDevice);
  float* d_result = nullptr;
  cudaMalloc(&d_result, base_len * sizeof(float));

  cudaMemcpy(d_result, d_base, base_len * sizeof(float), cudaMemcpyDeviceToDevice);
  scatter_add<<<(UPDATES * COLS + 255) / 256, 256>>>(d_source, d_target, d_weight, d_result);
  cudaError_t error = cudaDeviceSynchronize();
  if (error != cudaSuccess) {
    std::cerr << "kernel failed: " << cudaGetErrorString(error) << std::endl;
    return 1;
  }
  cudaMemcpy(h_result.data(), d_result, base_len * sizeof(float), cudaMemcpyDeviceToHost);

  std::ofstream result_file("data/result.bin", std::ios::binary);
  result_file.write(reinterpret_cast<const char*>(h_result.data()), base_len * sizeof(float));

  cudaFree(d_base);
  cudaFree(d_source);
  cudaFree(d_target);
  cudaFree(d_weight);
  cudaFree(d_result);
  return 0;
}
