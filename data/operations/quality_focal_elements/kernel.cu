#include <cmath>
#include <fstream>
#include <iostream>
#include <vector>
#include <cuda_runtime.h>

constexpr int kBoxes = 150;
constexpr int kClasses = 80;

// exp(-|x|) serves both the sigmoid and the softplus term.
__device__ __forceinline__ float focal(float x, float y) {
  const float e = expf(-fabsf(x));
  const float inv = 1.0f / (1.0f + e);
  const float s = x >= 0.0f ? inv : e * inv;
  const float gap = y - s;
  return gap * gap * (fmaxf(x, 0.0f) - x * y + log1pf(e));
}

__global__ void quality_focal_stride(const float* __restrict__ logits, const float* __restrict__ quality,
                   float* __restrict__ loss, int n) {
  const int stride = gridDim.x * blockDim.x;
  const int first = blockIdx.x * blockDim.x + threadIdx.x;
  for (int q = first; q < n / 2; q += stride) {
    const float2 x = reinterpret_cast<const float2*>(logits)[q];
    const float2 y = reinterpret_cast<const float2*>(quality)[q];
    reinterpret_cast<float2*>(loss)[q] = make_float2(focal(x.x, y.x), focal(x.y, y.y));
  }
  if (first == 0 && n % 2 == 1) loss[n - 1] = focal(logits[n - 1], quality[n - 1]);
}

int main() {
  std::vector<float> h_logits(kBoxes * kClasses), h_quality(kBoxes * kClasses), h_loss(kBoxes * kClasses);
  std::ifstream logits_file("data/logits.bin", std::ios::binary);
  logits_file.read(reinterpret_cast<char*>(h_logits.data()), h_logits.size() * sizeof(float));
  if (!logits_file) {
    std::cerr << "failed to read data/logits.bin" << std::endl;
    return 1;
  }
  std::ifstream quality_file("data/quality.bin", std::ios::binary);
  quality_file.read(reinterpret_cast<char*>(h_quality.data()), h_quality.size() * sizeof(float));
  if (!quality_file) {
    std::cerr << "failed to read data/quality.bin" << std::endl;
    return 1;
  }

  float* d_logits = nullptr;
  float* d_quality = nullptr;
  float* d_loss = nullptr;
  cudaMalloc(&d_logits, kBoxes * kClasses * sizeof(float));
  cudaMemcpy(d_logits, h_logits.data(), kBoxes * kClasses * sizeof(float), cudaMemcpyHostToDevice);
  cudaMalloc(&d_quality, kBoxes * kClasses * sizeof(float));
  cudaMemcpy(d_quality, h_quality.data(), kBoxes * kClasses * sizeof(float), cudaMemcpyHostToDevice);
  cudaMalloc(&d_loss, kBoxes * kClasses * sizeof(float));

  quality_focal_stride<<<1024, 256>>>(d_logits, d_quality, d_loss, kBoxes * kClasses);

  cudaError_t status = cudaDeviceSynchronize();
  if (status != cudaSuccess) {
    std::cerr << "GPU error: " << cudaGetErrorString(status) << std::endl;
    return 1;
  }
  cudaMemcpy(h_loss.data(), d_loss, kBoxes * kClasses * sizeof(float), cudaMemcpyDeviceToHost);

  std::ofstream out_loss("data/loss.bin", std::ios::binary);
  out_loss.write(reinterpret_cast<const char*>(h_loss.data()), h_loss.size() * sizeof(float));

  cudaFree(d_logits);
  cudaFree(d_quality);
  cudaFree(d_loss);
  return 0;
}
