#include <fstream>
#include <vector>
#include <cuda_runtime.h>

const int ROWS = 60;
const int WORDS = 15;

__global__ void pack_signs(const float* x, const float* threshold, unsigned int* packed, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    int w = i % WORDS;
    unsigned int bits = 0;
    for (int k = 0; k < 32; ++k) {
      if (x[(size_t)i * 32 + k] > threshold[w * 32 + k]) bits |= 1u << k;
    }
    packed[i] = bits;
  }
}

int main() {
  const int n = ROWS * WORDS;
  const size_t x_count = ROWS * (WORDS * 32);
  const size_t threshold_count = WORDS * 32;
  std::vector<float> h_x(x_count);
  std::vector<float> h_threshold(threshold_count);
  std::vector<unsigned int> h_packed(n);
  if (!std::ifstream("data/x.bin", std::ios::binary).read((char*)h_x.data(), x_count * sizeof(float))) return 1;
  if (!std::ifstream("data/threshold.bin", std::ios::binary).read((char*)h_threshold.data(),
          threshold_count * sizeof(float))) return 1;
  float *d_x, *d_threshold;
  unsigned int* d_packed;
  cudaMalloc(&d_x, x_count * sizeof(float));
  cudaMalloc(&d_threshold, threshold_count * sizeof(float));
  cudaMalloc(&d_packed, n * sizeof(unsigned int));
  cudaMemcpy(d_x, h_x.data(), x_count * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemcpy(d_threshold, h_threshold.data(), threshold_count * sizeof(float), cudaMemcpyHostToDevice);
  pack_signs<<<(n + 128 - 1) / 128, 128>>>(d_x, d_threshold, d_packed, n);
  cudaMemcpy(h_packed.data(), d_packed, n * sizeof(unsigned int), cudaMemcpyDeviceToHost);
  std::ofstream("data/packed.bin", std::ios::binary).write((char*)h_packed.data(), n * sizeof(unsigned int));
  cudaFree(d_x); cudaFree(d_threshold); cudaFree(d_packed);
  return 0;
}
