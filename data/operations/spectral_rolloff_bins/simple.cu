#include <cuda_runtime.h>
#include <fstream>
#include <iostream>
#include <vector>

constexpr int kFrames = 90;
constexpr int kBins = 200;

__global__ void rolloff_kernel(const int* power, int* rolloff, long long* total) {
  int f = blockIdx.x * blockDim.x + threadIdx.x;
  if (f >= kFrames) return;
  const int* p = power + f * kBins;
  long long sum = 0;
  for (int b = 0; b < kBins; b++) sum += p[b];
  long long part = 0;
  int k = 0;
  for (; k < kBins; k++) {
    part += p[k];
    if (20 * part >= 17 * sum) break;
  }
  rolloff[f] = k;
  total[f] = sum;
}

void solve(const int* d_power, int* d_rolloff, long long* d_total) {
  rolloff_kernel<<<(kFrames + 63) / 64, 64>>>(d_power, d_rolloff, d_total);
}

int main() {
  std::vector<int> host_power(kFrames * kBins);
  std::vector<int> host_rolloff(kFrames);
  std::vector<long long> host_total(kFrames);
  std::ifstream file_power("data/power.bin", std::ios::binary);
  file_power.read((char*)host_power.data(), kFrames * kBins * sizeof(int));
  if (!file_power) { std::cerr << "error reading data/power.bin\n"; return 1; }

  int* d_power = nullptr;
  cudaMalloc(&d_power, kFrames * kBins * sizeof(int));
  int* d_rolloff = nullptr;
  cudaMalloc(&d_rolloff, kFrames * sizeof(int));
  long long* d_total = nullptr;
  cudaMalloc(&d_total, kFrames * sizeof(long long));
  cudaMemcpy(d_power, host_power.data(), kFrames * kBins * sizeof(int), cudaMemcpyHostToDevice);

  solve(d_power, d_rolloff, d_total);
  if (cudaDeviceSynchronize() != cudaSuccess) {
    std::cerr << "kernel failed\n";
    return 1;
  }

  cudaMemcpy(host_rolloff.data(), d_rolloff, kFrames * sizeof(int), cudaMemcpyDeviceToHost);
  cudaMemcpy(host_total.data(), d_total, kFrames * sizeof(long long), cudaMemcpyDeviceToHost);
  std::ofstream out_rolloff("data/rolloff.bin", std::ios::binary);
  out_rolloff.write((char*)host_rolloff.data(), kFrames * sizeof(int));
  std::ofstream out_total("data/total.bin", std::ios::binary);
  out_total.write((char*)host_total.data(), kFrames * sizeof(long long));
  cudaFree(d_power);
  cudaFree(d_rolloff);
  cudaFree(d_total);
  return 0;
}
