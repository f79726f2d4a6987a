#include <cmath>
#include <cstdio>
#include <vector>
#include <cuda_runtime.h>

const int UNITS = 100;
const int FAN_IN = 200;

// A warp per unit; the squares are compared, and the roots are taken only for rows that are clipped.
__global__ void unit_clip_warp(const float* __restrict__ weight, const float* __restrict__ grad,
                 float* __restrict__ clipped, float* __restrict__ scale) {
  const int lane = threadIdx.x % 32;
  const int unit = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
  if (unit >= UNITS) return;
  const size_t base = (size_t)unit * FAN_IN;
  float ww = 0.0f, gg = 0.0f;
  for (int k = lane; k < FAN_IN; k += 32) {
    ww += weight[base + k] * weight[base + k];
    gg += grad[base + k] * grad[base + k];
  }
  for (int d = 16; d > 0; d /= 2) {
    ww += __shfl_xor_sync(0xffffffffu, ww, d);
    gg += __shfl_xor_sync(0xffffffffu, gg, d);
  }
  const float limit2 = 0.0004f * fmaxf(ww, 1e-6f);
  float factor = 1.0f;
  if (gg > limit2) factor = sqrtf(limit2) / fmaxf(sqrtf(gg), 1e-6f);
  for (int k = lane; k < FAN_IN; k += 32) clipped[base + k] = grad[base + k] * factor;
  if (lane == 0) scale[unit] = factor;
}

int main() {
  std::vector<float> host_weight(UNITS * FAN_IN);
  std::vector<float> host_grad(UNITS * FAN_IN);
  std::vector<float> host_clipped(UNITS * FAN_IN);
  std::vector<float> host_scale(UNITS);
  FILE* f = fopen("data/weight.bin", "rb");
  if (!f || fread(host_weight.data(), sizeof(float), host_weight.size(), f) != host_weight.size()) return 2;
  fclose(f);
  f = fopen("data/grad.bin", "rb");
  if (!f || fread(host_grad.data(), sizeof(float), host_grad.size(), f) != host_grad.size()) return 2;
  fclose(f);
  float *dev_weight, *dev_grad, *dev_clipped, *dev_scale;
  cudaMalloc(&dev_weight, UNITS * FAN_IN * sizeof(float));
  cudaMalloc(&dev_grad, UNITS * FAN_IN * sizeof(float));
  cudaMalloc(&dev_clipped, UNITS * FAN_IN * sizeof(float));
  cudaMalloc(&dev_scale, UNITS * sizeof(float));
  cudaMemcpy(dev_weight, host_weight.data(), UNITS * FAN_IN * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemcpy(dev_grad, host_grad.data(), UNITS * FAN_IN * sizeof(float), cudaMemcpyHostToDevice);
  unit_clip_warp<<<(UNITS + 3) / 4, 128>>>(dev_weight, dev_grad, dev_clipped, dev_scale);
  cudaMemcpy(host_clipped.data(), dev_clipped, UNITS * FAN_IN * sizeof(float), cudaMemcpyDeviceToHost);
  cudaMemcpy(host_scale.data(), dev_scale, UNITS * sizeof(float), cudaMemcpyDeviceToHost);
  f = fopen("data/clipped.bin", "wb");
  fwrite(host_clipped.data(), sizeof(float), host_clipped.size(), f);
  fclose(f);
  f = fopen("data/scale.bin", "wb");
  fwrite(host_scale.data(), sizeof(float), host_scale.size(), f);
  fclose(f);
  return 0;
}
