#include <cuda_runtime.h>
#include <fstream>
#include <iostream>
#include <string>

void load(const std::string& path, float* dst, size_t n) {
  std::ifstream file(path, std::ios::binary);
  file.read(reinterpret_cast<char*>(dst), n * sizeof(float));
  if (!file) {
    std::cerr << "error reading " << path << '\n';
    exit(1);
  }
}

void save(const std::string& path, const float* src, size_t n) {
  std::ofstream file(path, std::ios::binary);
  file.write(reinterpret_cast<const char*>(src), n * sizeof(float));
}
//@given

constexpr int kN = 20000;

// The grid's second row of blocks does the other transform.
__global__ void transforms(const float* __restrict__ x, const float* __restrict__ z, float* __restrict__ compressed,
                           float* __restrict__ expanded, int n) {
  const int stride = blockDim.x * gridDim.x;
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (blockIdx.y == 0) {
    for (; i < n; i += stride) {
      const float v = x[i];
      const float m = log1pf(fabsf(v));
      compressed[i] = v < 0.0f ? -m : m;
    }
  } else {
    for (; i < n; i += stride) {
      const float v = z[i];
      const float m = expm1f(fabsf(v));
      expanded[i] = v < 0.0f ? -m : m;
    }
  }
}

int main() {
  const size_t bytes = kN * sizeof(float);
  float* h_x = new float[kN];
  float* h_z = new float[kN];
  float* h_compressed = new float[kN];
  float* h_expanded = new float[kN];
  load("data/x.bin", h_x, kN);
  load("data/z.bin", h_z, kN);

  float *d_x, *d_z, *d_compressed, *d_expanded;
  cudaMalloc(&d_x, bytes);
  cudaMalloc(&d_z, bytes);
  cudaMalloc(&d_compressed, bytes);
  cudaMalloc(&d_expanded, bytes);
  cudaMemcpy(d_x, h_x, bytes, cudaMemcpyHostToDevice);
  cudaMemcpy(d_z, h_z, bytes, cudaMemcpyHostToDevice);

  dim3 grid(min((kN + 256 - 1) / 256, 1024), 2);
  transforms<<<grid, 256>>>(d_x, d_z, d_compressed, d_expanded, kN);
  cudaDeviceSynchronize();

  cudaMemcpy(h_compressed, d_compressed, bytes, cudaMemcpyDeviceToHost);
  cudaMemcpy(h_expanded, d_expanded, bytes, cudaMemcpyDeviceToHost);
  save("data/compressed.bin", h_compressed, kN);
  save("data/expanded.bin", h_expanded, kN);

  cudaFree(d_expanded);
  cudaFree(d_compressed);
  cudaFree(d_z);
  cudaFree(d_x);
  delete[] h_x;
  delete[] h_z;
  delete[] h_compressed;
  delete[] h_expanded;
  return 0;
}
