#include <cuda_runtime.h>
#include <fstream>
#include <iostream>
#include <vector>

constexpr int OUTER = 5;
constexpr int LENGTH = 60;
constexpr int INNER = 90;

__global__ void smallest_positive(const float* x, float* least, int* index) {
  int b = blockIdx.x * blockDim.x + threadIdx.x;
  int a = blockIdx.y;
  if (b >= INNER) return;
  float best = 0.0f;
  int at = -1;
  for (int k = 0; k < LENGTH; ++k) {
    float v = x[((size_t)a * LENGTH + k) * INNER + b];
    if (v > 0.0f && (at < 0 || v < best)) {
      best = v;
      at = k;
    }
  }
  least[a * INNER + b] = best;
  index[a * INNER + b] = at;
}

void compute(const float* d_x, float* d_least, int* d_index) {
  dim3 grid((INNER + 128 - 1) / 128, OUTER);
  smallest_positive<<<grid, 128>>>(d_x, d_least, d_index);
}

int main() {
  const size_t n_x = (size_t)OUTER * LENGTH * INNER;
  const size_t least_size = (size_t)OUTER * INNER;
  std::vector<float> host_x(n_x);
  std::vector<float> host_least(least_size);
  std::vector<int> host_index(least_size);
  std::ifstream in("data/x.bin", std::ios::binary);
  if (!in.read(reinterpret_cast<char*>(host_x.data()), n_x * sizeof(float))) {
    std::cerr << "no data/x.bin\n";
    return 1;
  }

  float *d_x, *d_least;
  int* d_index = nullptr;
  cudaMalloc(&d_x, n_x * sizeof(float));
  cudaMalloc(&d_least, least_size * sizeof(float));
  cudaMalloc(&d_index, least_size * sizeof(int));
  cudaMemcpy(d_x, host_x.data(), n_x * sizeof(float), cudaMemcpyHostToDevice);

  compute(d_x, d_least, d_index);
  if (cudaDeviceSynchronize() != cudaSuccess) {
    std::cerr << "CUDA failure: " << cudaGetErrorString(cudaGetLastError()) << "\n";
    return 1;
  }

  cudaMemcpy(host_least.data(), d_least, least_size * sizeof(float), cudaMemcpyDeviceToHost);
  cudaMemcpy(host_index.data(), d_index, least_size * sizeof(int), cudaMemcpyDeviceToHost);
  std::ofstream out_least("data/least.bin", std::ios::binary);
  out_least.write(reinterpret_cast<const char*>(host_least.data()), least_size * sizeof(float));
  std::ofstream out_index("data/index.bin", std::ios::binary);
  out_index.write(reinterpret_cast<const char*>(host_index.data()), least_size * sizeof(int));
  cudaFree(d_x);
  cudaFree(d_least);
  cudaFree(d_index);
  return 0;
}
