#include <fstream>
#include <iostream>
#include <vector>
#include <cuda_runtime.h>

constexpr int kCount = 9999;

__global__ void bent_identity_strided(const float* __restrict__ x, float* __restrict__ value,
                                      float* __restrict__ slope, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    const float v = x[i];
    const float inv = rsqrtf(fmaf(v, v, 1.0f));
    // root - 1 = v^2 / (root + 1), which keeps small values accurate
    const float root = fmaf(v, v, 1.0f) * inv;
    value[i] = fmaf(0.5f * v, v / (root + 1.0f), v);
    slope[i] = fmaf(0.5f * v, inv, 1.0f);
  }
}

void run(const float* d_x, float* d_value, float* d_slope) {
  bent_identity_strided<<<1024, 256>>>(d_x, d_value, d_slope, kCount);
}

int main() {
  const size_t nbytes = kCount * sizeof(float);
  std::vector<float> x(kCount);
  std::vector<float> value(kCount);
  std::vector<float> slope(kCount);
  std::ifstream in("data/x.bin", std::ios::binary);
  if (!in.read(reinterpret_cast<char*>(x.data()), nbytes)) {
    std::cerr << "cannot read data/x.bin" << std::endl;
    return 1;
  }

  float *d_x = nullptr, *d_value = nullptr, *d_slope = nullptr;
  cudaMalloc(&d_x, nbytes);
  cudaMalloc(&d_value, nbytes);
  cudaMalloc(&d_slope, nbytes);
  cudaMemcpy(d_x, x.data(), nbytes, cudaMemcpyHostToDevice);

  run(d_x, d_value, d_slope);
  if (cudaGetLastError() != cudaSuccess) {
    std::cerr << "kernel launch failed" << std::endl;
    return 1;
  }
  cudaMemcpy(value.data(), d_value, nbytes, cudaMemcpyDeviceToHost);
  cudaMemcpy(slope.data(), d_slope, nbytes, cudaMemcpyDeviceToHost);

  std::ofstream out_value("data/value.bin", std::ios::binary);
  out_value.write(reinterpret_cast<const char*>(value.data()), nbytes);
  std::ofstream out_slope("data/slope.bin", std::ios::binary);
  out_slope.write(reinterpret_cast<const char*>(slope.data()), nbytes);
  cudaFree(d_x);
  cudaFree(d_value);
  cudaFree(d_slope);
  return 0;
}
