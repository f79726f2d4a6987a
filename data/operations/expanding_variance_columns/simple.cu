#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <vector>
#include <cuda_runtime.h>

template <typename T>
struct GpuArray {
  T* p = nullptr;
  explicit GpuArray(size_t count) {
    if (cudaMalloc(&p, count * sizeof(T)) != cudaSuccess) { fprintf(stderr, "cudaMalloc failed\n"); exit(1); }
  }
  ~GpuArray() { cudaFree(p); }
  GpuArray(const GpuArray&) = delete;
  GpuArray& operator=(const GpuArray&) = delete;
};

constexpr int kRows = 200;
constexpr int kCols = 150;

__global__ void expanding_variance(const float* x, float* var) {
  int c = blockIdx.x * blockDim.x + threadIdx.x;
  if (c >= kCols) return;
  float mean = 0.0f, m2 = 0.0f;
  for (int r = 0; r < kRows; ++r) {
    float v = x[(size_t)r * kCols + c];
    float d = v - mean;
    mean += d / (r + 1);
    m2 += d * (v - mean);
    var[(size_t)r * kCols + c] = r > 0 ? m2 / r : 0.0f;
  }
}

int main() {
  std::vector<float> x(kRows * kCols);
  std::vector<float> var(kRows * kCols);
  std::ifstream in("data/x.bin", std::ios::binary);
  if (!in.read(reinterpret_cast<char*>(x.data()), kRows * kCols * sizeof(float)))
      { fprintf(stderr, "cannot read data/x.bin\n"); exit(1); }

  GpuArray<float> dev_x(kRows * kCols);
  GpuArray<float> dev_var(kRows * kCols);
  cudaMemcpy(dev_x.p, x.data(), kRows * kCols * sizeof(float), cudaMemcpyHostToDevice);

  expanding_variance<<<(kCols - 1) / 128 + 1, 128>>>(dev_x.p, dev_var.p);
  if (cudaGetLastError() != cudaSuccess) { fprintf(stderr, "launch failed\n"); exit(1); }
  cudaMemcpy(var.data(), dev_var.p, kRows * kCols * sizeof(float), cudaMemcpyDeviceToHost);

  std::ofstream("data/var.bin", std::ios::binary)
      .write(reinterpret_cast<const char*>(var.data()), kRows * kCols * sizeof(float));
  return 0;
}
