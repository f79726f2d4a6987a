#include <fstream>
#include <iostream>
#include <vector>
#include <cuda_runtime.h>

constexpr int kRows = 100;
constexpr int kBins = 150;

// One warp per row. Value and bin are packed into one 64-bit key: larger value first, then smaller bin.
__device__ unsigned long long make_key(float v, int bin) {
  unsigned int u = __float_as_uint(v + 0.0f);
  u = (u & 0x80000000u) ? ~u : u | 0x80000000u;
  return ((unsigned long long)u << 32) | (0xffffffffu - bin);
}

__global__ void peak_warps(const float* __restrict__ response, float* __restrict__ position,
                           float* __restrict__ height) {
  const int r = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
  const int lane = threadIdx.x % 32;
  if (r >= kRows) return;
  const float* row = response + (size_t)r * kBins;
  unsigned long long key = 0;
  for (int i = lane; i < kBins; i += 32) {
    unsigned long long other = make_key(row[i], i);
    if (other > key) key = other;
  }
  for (int s = 16; s > 0; s >>= 1) {
    unsigned long long other = __shfl_down_sync(0xffffffffu, key, s);
    if (other > key) key = other;
  }
  if (lane != 0) return;
  const int k = (int)(0xffffffffu - (unsigned int)key);
  const float a = row[k > 0 ? k - 1 : k], b = row[k], c = row[k < kBins - 1 ? k + 1 : k];
  const float curve = a - 2.0f * b + c;
  const bool inner = k > 0 && k < kBins - 1 && curve != 0.0f;
  const float d = inner ? 0.5f * (a - c) / curve : 0.0f;
  position[r] = k + d;
  height[r] = b - 0.25f * (a - c) * d;
}

void compute(const float* response, float* position, float* height) {
  const int threads = 256;
  peak_warps<<<(kRows * 32 + 255) / 256, threads>>>(response, position, height);
}

int main() {
  const int num_response = kRows * kBins;
  std::vector<float> host_response(num_response);
  std::vector<float> host_position(kRows);
  std::vector<float> host_height(kRows);
  std::ifstream file_response("data/response.bin", std::ios::binary);
  file_response.read((char*)host_response.data(), num_response * sizeof(float));
  if (!file_response) { std::cerr << "could not open data/response.bin\n"; return 1; }

  float* d_response = nullptr;
  cudaMalloc(&d_response, num_response * sizeof(float));
  float* d_position = nullptr;
  cudaMalloc(&d_position, kRows * sizeof(float));
  float* d_height = nullptr;
  cudaMalloc(&d_height, kRows * sizeof(float));
  cudaMemcpy(d_response, host_response.data(), num_response * sizeof(float), cudaMemcpyHostToDevice);

  compute(d_response, d_position, d_height);
  if (cudaDeviceSynchronize() != cudaSuccess) {
    std::cerr << "kernel failed\n";
    return 1;
  }

  cudaMemcpy(host_position.data(), d_position, kRows * sizeof(float), cudaMemcpyDeviceToHost);
  cudaMemcpy(host_height.data(), d_height, kRows * sizeof(float), cudaMemcpyDeviceToHost);
  std::ofstream out_position("data/position.bin", std::ios::binary);
  out_position.write((char*)host_position.data(), kRows * sizeof(float));
  std::ofstream out_height("data/height.bin", std::ios::binary);
  out_height.write((char*)host_height.data(), kRows * sizeof(float));
  cudaFree(d_response);
  cudaFree(d_position);
  cudaFree(d_height);
  return 0;
}
