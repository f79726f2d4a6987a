#include <cuda_runtime.h>
#include <cstdio>
#include <vector>

constexpr int kLines = 20;
constexpr int kCells = 200;
constexpr int kLinks = kCells - 1;
constexpr int kSteps = 30;

__global__ void update_current(const float* V, float* I) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= kLines * kLinks) return;
  int l = i / kLinks, k = i % kLinks;
  I[i] = 0.98f * I[i] - 0.5f * (V[l * kCells + k + 1] - V[l * kCells + k]);
}

__global__ void update_voltage(float* V, const float* I) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= kLines * kCells) return;
  int l = i / kCells, k = i % kCells;
  float right = k < kLinks ? I[l * kLinks + k] : 0.0f;
  float left = k > 0 ? I[l * kLinks + k - 1] : 0.0f;
  V[i] = 0.995f * V[i] - 0.4f * (right - left);
}

int main() {
  std::vector<float> h_voltage(kLines * kCells), h_current(kLines * kLinks),
      h_new_voltage(kLines * kCells), h_new_current(kLines * kLinks);
  FILE* f0 = fopen("data/voltage.bin", "rb");
  if (!f0 || fread(h_voltage.data(), sizeof(float), kLines * kCells, f0) != kLines * kCells) return 1;
  FILE* f1 = fopen("data/current.bin", "rb");
  if (!f1 || fread(h_current.data(), sizeof(float), kLines * kLinks, f1) != kLines * kLinks) return 1;
  fclose(f0); fclose(f1);
  float *d_voltage, *d_current, *d_new_voltage, *d_new_current;
  cudaMalloc(&d_voltage, kLines * kCells * sizeof(float));
  cudaMalloc(&d_current, kLines * kLinks * sizeof(float));
  cudaMalloc(&d_new_voltage, kLines * kCells * sizeof(float));
  cudaMalloc(&d_new_current, kLines * kLinks * sizeof(float));
  cudaMemcpy(d_voltage, h_voltage.data(), kLines * kCells * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemcpy(d_current, h_current.data(), kLines * kLinks * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemcpy(d_new_voltage, d_voltage, kLines * kCells * sizeof(float), cudaMemcpyDeviceToDevice);
  cudaMemcpy(d_new_current, d_current, kLines * kLinks * sizeof(float), cudaMemcpyDeviceToDevice);
  int blocks = (kLines * kCells + 255) / 256;
  for (int s = 0; s < kSteps; ++s) {
    update_current<<<blocks, 256>>>(d_new_voltage, d_new_current);
    update_voltage<<<blocks, 256>>>(d_new_voltage, d_new_current);
  }
  cudaMemcpy(h_new_voltage.data(), d_new_voltage, kLines * kCells * sizeof(float), cudaMemcpyDeviceToHost);
  cudaMemcpy(h_new_current.data(), d_new_current, kLines * kLinks * sizeof(float), cudaMemcpyDeviceToHost);
  FILE* o0 = fopen("data/new_voltage.bin", "wb");
  fwrite(h_new_voltage.data(), sizeof(float), kLines * kCells, o0);
  fclose(o0);
  FILE* o1 = fopen("data/new_current.bin", "wb");
  fwrite(h_new_current.data(), sizeof(float), kLines * kLinks, o1);
  fclose(o1);
  cudaFree(d_voltage); cudaFree(d_current); cudaFree(d_new_voltage); cudaFree(d_new_current);
  return 0;
}
