#include <cstdio>
#include <vector>
#include <cuda_runtime.h>

#define VOLUMES 8
#define VOXELS 1500
#define COUNT (VOLUMES * VOXELS)

__global__ void dice_gradient(const float* prob, const unsigned char* mask, float* grad) {
  __shared__ float num[512], den[512];
  int t = threadIdx.x;
  size_t base = (size_t)blockIdx.x * VOXELS;
  float a = 0.0f, b = 0.0f;
  for (int i = t; i < VOXELS; i += 512) {
    float p = prob[base + i], g = mask[base + i];
    a += p * g;
    b += p * p + g;
  }
  num[t] = a;
  den[t] = b;
  __syncthreads();
  for (int s = 256; s > 0; s /= 2) {
    if (t < s) {
      num[t] += num[t + s];
      den[t] += den[t + s];
    }
    __syncthreads();
  }
  a = 2.0f * num[0] + 1.0f;
  b = den[0] + 1.0f;
  for (int i = t; i < VOXELS; i += 512) {
    float p = prob[base + i], g = mask[base + i];
    grad[base + i] = (2.0f * p * a - 2.0f * g * b) / (b * b);
  }
}

int main() {
  std::vector<float> host_prob(COUNT);
  std::vector<unsigned char> host_mask(COUNT);
  std::vector<float> host_grad(COUNT);
  FILE* f = fopen("data/prob.bin", "rb");
  if (!f || fread(host_prob.data(), sizeof(float), host_prob.size(), f) != host_prob.size()) return -1;
  fclose(f);
  f = fopen("data/mask.bin", "rb");
  if (!f || fread(host_mask.data(), sizeof(unsigned char), host_mask.size(), f) != host_mask.size()) return -1;
  fclose(f);
  float *d_prob, *d_grad;
  unsigned char* d_mask;
  cudaMalloc(&d_prob, COUNT * sizeof(float));
  cudaMalloc(&d_mask, COUNT * sizeof(unsigned char));
  cudaMalloc(&d_grad, COUNT * sizeof(float));
  cudaMemcpy(d_prob, host_prob.data(), COUNT * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemcpy(d_mask, host_mask.data(), COUNT * sizeof(unsigned char), cudaMemcpyHostToDevice);
  dice_gradient<<<VOLUMES, 512>>>(d_prob, d_mask, d_grad);
  cudaMemcpy(host_grad.data(), d_grad, COUNT * sizeof(float), cudaMemcpyDeviceToHost);
  f = fopen("data/grad.bin", "wb");
  fwrite(host_grad.data(), sizeof(float), host_grad.size(), f);
  fclose(f);
  return 0;
}
