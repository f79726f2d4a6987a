#include <fstream>
#include <iostream>
#include <vector>
#include <cuda_runtime.h>

constexpr int kBatch = 2;
constexpr int kChannels = 10;
constexpr int kPlane = 1000;

__global__ void acon_c_planes(const float* __restrict__ x, const float* __restrict__ p1, const float* __restrict__ p2,
                              const float* __restrict__ beta, float* __restrict__ y) {
  const int c = blockIdx.x, b = blockIdx.y;
  const float q = p2[c];
  const float diff = p1[c] - q;
  const float steep = beta[c] * diff;
  const size_t base = ((size_t)b * kChannels + c) * kPlane;
  for (int i = threadIdx.x; i < kPlane; i += blockDim.x) {
    const float v = x[base + i];
    const float gate = 1.0f / (1.0f + __expf(-steep * v));
    y[base + i] = v * fmaf(diff, gate, q);
  }
}

void solve(const float* d_x, const float* d_p1, const float* d_p2, const float* d_beta, float* d_y) {
  dim3 grid(kChannels, kBatch);
  acon_c_planes<<<grid, 256>>>(d_x, d_p1, d_p2, d_beta, d_y);
}

int main() {
  const int elements = kBatch * kChannels * kPlane;
  std::vector<float> h_x(elements);
  std::vector<float> h_p1(kChannels);
  std::vector<float> h_p2(kChannels);
  std::vector<float> h_beta(kChannels);
  std::vector<float> h_y(elements);
  std::ifstream x_file("data/x.bin", std::ios::binary);
  if (!x_file.read(reinterpret_cast<char*>(h_x.data()), elements * sizeof(float))) {
    std::cerr << "cannot read data/x.bin" << std::endl;
    return 1;
  }
  std::ifstream p1_file("data/p1.bin", std::ios::binary);
  if (!p1_file.read(reinterpret_cast<char*>(h_p1.data()), kChannels * sizeof(float))) {
    std::cerr << "cannot read data/p1.bin" << std::endl;
    return 1;
  }
  std::ifstream p2_file("data/p2.bin", std::ios::binary);
  if (!p2_file.read(reinterpret_cast<char*>(h_p2.data()), kChannels * sizeof(float))) {
    std::cerr << "cannot read data/p2.bin" << std::endl;
    return 1;
  }
  std::ifstream beta_file("data/beta.bin", std::ios::binary);
  if (!beta_file.read(reinterpret_cast<char*>(h_beta.data()), kChannels * sizeof(float))) {
    std::cerr << "cannot read data/beta.bin" << std::endl;
    return 1;
  }

  float *d_x = nullptr, *d_p1 = nullptr, *d_p2 = nullptr, *d_beta = nullptr, *d_y = nullptr;
  cudaMalloc(&d_x, elements * sizeof(float));
  cudaMalloc(&d_p1, kChannels * sizeof(float));
  cudaMalloc(&d_p2, kChannels * sizeof(float));
  cudaMalloc(&d_beta, kChannels * sizeof(float));
  cudaMalloc(&d_y, elements * sizeof(float));
  cudaMemcpy(d_x, h_x.data(), elements * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemcpy(d_p1, h_p1.data(), kChannels * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemcpy(d_p2, h_p2.data(), kChannels * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemcpy(d_beta, h_beta.data(), kChannels * sizeof(float), cudaMemcpyHostToDevice);

  solve(d_x, d_p1, d_p2, d_beta, d_y);
  if (cudaGetLastError() != cudaSuccess) {
    std::cerr << "kernel launch failed" << std::endl;
    return 1;
  }
  cudaMemcpy(h_y.data(), d_y, elements * sizeof(float), cudaMemcpyDeviceToHost);

  std::ofstream out("data/y.bin", std::ios::binary);
  out.write(reinterpret_cast<const char*>(h_y.data()), elements * sizeof(float));
  cudaFree(d_x);
  cudaFree(d_p1);
  cudaFree(d_p2);
  cudaFree(d_beta);
  cudaFree(d_y);
  return 0;
}
