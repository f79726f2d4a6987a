#include <fstream>
#include <iostream>
#include <vector>
#include <cuda_runtime.h>

const int BATCH = 10;
const int N = 64;
const int BLOCK = 256;

__global__ void asymmetry(const float* a, float* ratio) {
  __shared__ float ds[BLOCK], ss[BLOCK];
  const float* m = a + (size_t)blockIdx.x * N * N;
  int t = threadIdx.x;
  float d = 0.0f, s = 0.0f;
  for (int k = t; k < N * N; k += BLOCK) {
    int i = k / N;
    int j = k % N;
    if (i < j) {
      float u = m[i * N + j];
      float v = m[j * N + i];
      d += (u - v) * (u - v);
      s += (u + v) * (u + v);
    }
  }
  ds[t] = d;
  ss[t] = s;
  __syncthreads();
  for (int h = BLOCK / 2; h > 0; h /= 2) {
    if (t < h) {
      ds[t] += ds[t + h];
      ss[t] += ss[t + h];
    }
    __syncthreads();
  }
  if (t == 0) {
    float total = ds[0] + ss[0];
    ratio[blockIdx.x] = total > 0.0f ? ds[0] / total : 0.0f;
  }
}

int main() {
  const int elements = BATCH * N * N;
  std::vector<float> h_a(elements);
  std::vector<float> h_ratio(BATCH);

  std::ifstream fin("data/a.bin", std::ios::binary);
  fin.read((char*)h_a.data(), elements * sizeof(float));
  if (!fin) {
    std::cerr << "Cannot read data/a.bin" << std::endl;
    return 1;
  }

  float* d_a;
  float* d_ratio;
  cudaMalloc(&d_a, elements * sizeof(float));
  cudaMalloc(&d_ratio, BATCH * sizeof(float));
  cudaMemcpy(d_a, h_a.data(), elements * sizeof(float), cudaMemcpyHostToDevice);

  asymmetry<<<BATCH, BLOCK>>>(d_a, d_ratio);
  cudaError_t status = cudaGetLastError();
  if (status != cudaSuccess) {
    std::cerr << "CUDA error: " << cudaGetErrorString(status) << std::endl;
    return 1;
  }
  cudaMemcpy(h_ratio.data(), d_ratio, BATCH * sizeof(float), cudaMemcpyDeviceToHost);

  std::ofstream result("data/ratio.bin", std::ios::binary);
  result.write((char*)h_ratio.data(), BATCH * sizeof(float));

  cudaFree(d_a);
  cudaFree(d_ratio);
  return 0;
}
