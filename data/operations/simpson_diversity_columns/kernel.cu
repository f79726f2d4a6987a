#include <fstream>
#include <iostream>
#include <vector>
#include <cuda_runtime.h>

constexpr int ROWS = 120;
constexpr int COLS = 300;
constexpr int CHUNK = 64;

__global__ void partial_sums(const float* __restrict__ abundance, float* sums) {
  int c = blockIdx.x * blockDim.x + threadIdx.x;
  if (c >= COLS) return;
  int begin = blockIdx.y * CHUNK;
  int end = min(begin + CHUNK, ROWS);
  float t = 0.0f, q = 0.0f;
  for (int r = begin; r < end; ++r) {
    float a = abundance[(size_t)r * COLS + c];
    t += a;
    q = fmaf(a, a, q);
  }
  atomicAdd(&sums[c], t);
  atomicAdd(&sums[COLS + c], q);
}

__global__ void finish(const float* sums, float* diversity, float* effective) {
  int c = blockIdx.x * blockDim.x + threadIdx.x;
  if (c >= COLS) return;
  float t2 = sums[c] * sums[c];
  float q = sums[COLS + c];
  diversity[c] = t2 > 0.0f ? 1.0f - q / t2 : 0.0f;
  effective[c] = t2 > 0.0f ? t2 / q : 0.0f;
}

static void launch_simpson(const float* dev_abundance, float* dev_diversity, float* dev_effective) {
  float* dev_sums;
  cudaMalloc(&dev_sums, 2 * COLS * sizeof(float));
  cudaMemset(dev_sums, 0, 2 * COLS * sizeof(float));
  const int block = 128;
  const int columns = (COLS + block - 1) / block;
  dim3 grid(columns, (ROWS + CHUNK - 1) / CHUNK);
  partial_sums<<<grid, block>>>(dev_abundance, dev_sums);
  finish<<<columns, block>>>(dev_sums, dev_diversity, dev_effective);
  cudaFree(dev_sums);
}

int main() {
  std::vector<float> h_abundance(ROWS * COLS);
  std::vector<float> h_diversity(COLS);
  std::vector<float> h_effective(COLS);
  std::ifstream in("data/abundance.bin", std::ios::binary);
  if (!in.read(reinterpret_cast<char*>(h_abundance.data()), ROWS * COLS * sizeof(float))) {
    std::cerr << "no data/abundance.bin\n";
    return 1;
  }

  float* dev_abundance = nullptr;
  float* dev_diversity = nullptr;
  float* dev_effective;
  cudaMalloc(&dev_abundance, ROWS * COLS * sizeof(float));
  cudaMalloc(&dev_diversity, COLS * sizeof(float));
  cudaMalloc(&dev_effective, COLS * sizeof(float));
  cudaMemcpy(dev_abundance, h_abundance.data(), ROWS * COLS * sizeof(float), cudaMemcpyHostToDevice);

  launch_simpson(dev_abundance, dev_diversity, dev_effective);
  if (cudaDeviceSynchronize() != cudaSuccess) {
    std::cerr << "CUDA failure: " << cudaGetErrorString(cudaGetLastError()) << "\n";
    return 1;
  }

  cudaMemcpy(h_diversity.data(), dev_diversity, COLS * sizeof(float), cudaMemcpyDeviceToHost);
  cudaMemcpy(h_effective.data(), dev_effective, COLS * sizeof(float), cudaMemcpyDeviceToHost);
  std::ofstream out_diversity("data/diversity.bin", std::ios::binary);
  out_diversity.write(reinterpret_cast<const char*>(h_diversity.data()), COLS * sizeof(float));
  std::ofstream out_effective("data/effective.bin", std::ios::binary);
  out_effective.write(reinterpret_cast<const char*>(h_effective.data()), COLS * sizeof(float));
  cudaFree(dev_abundance);
  cudaFree(dev_diversity);
  cudaFree(dev_effective);
  return 0;
}
