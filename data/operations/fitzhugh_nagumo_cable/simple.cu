#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>
#include <cuda_runtime.h>

void load_array(const std::string& path, float* buffer, size_t count) {
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    std::cerr << "cannot open " << path << std::endl;
    exit(1);
  }
  file.read(reinterpret_cast<char*>(buffer), count * sizeof(float));
}

void save_array(const std::string& path, const float* buffer, size_t count) {
  std::ofstream file(path, std::ios::binary);
  file.write(reinterpret_cast<const char*>(buffer), count * sizeof(float));
}
//@given

constexpr int kCables = 40;
constexpr int kCells = 100;
const int kSteps = 16;

__global__ void cable_step(const float* v0, const float* w0, float* v1, float* w1) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= kCables * kCells) return;
  int cell = i % kCells;
  float v = v0[i];
  float w = w0[i];
  float left = cell > 0 ? v0[i - 1] : v;
  float right = cell < kCells - 1 ? v0[i + 1] : v;
  float change = v - v * v * v / 3.0f - w + 0.4f + 2.0f * (left - 2.0f * v + right);
  v1[i] = v + 0.05f * change;
  w1[i] = w + 0.05f * 0.08f * (v + 0.7f - 0.8f * w);
}

int main() {
  float* h_voltage = new float[kCables * kCells];
  float* h_recovery = new float[kCables * kCells];
  float* h_new_voltage = new float[kCables * kCells];
  float* h_new_recovery = new float[kCables * kCells];
  load_array("data/voltage.bin", h_voltage, kCables * kCells);
  load_array("data/recovery.bin", h_recovery, kCables * kCells);

  float* d_voltage;
  float* d_recovery;
  float* d_new_voltage;
  float* d_new_recovery;
  float* d_temp_v;
  float* d_temp_w;
  cudaMalloc(&d_voltage, kCables * kCells * sizeof(float));
  cudaMalloc(&d_recovery, kCables * kCells * sizeof(float));
  cudaMalloc(&d_new_voltage, kCables * kCells * sizeof(float));
  cudaMalloc(&d_new_recovery, kCables * kCells * sizeof(float));
  cudaMalloc(&d_temp_v, kCables * kCells * sizeof(float));
  cudaMalloc(&d_temp_w, kCables * kCells * sizeof(float));
  cudaMemcpy(d_voltage, h_voltage, kCables * kCells * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemcpy(d_recovery, h_recovery, kCables * kCells * sizeof(float), cudaMemcpyHostToDevice);

  const int threads = 256;
  const int blocks = (kCables * kCells + threads - 1) / threads;
  // An even number of steps: the first goes to the temporary arrays, the last to the outputs.
  cable_step<<<blocks, threads>>>(d_voltage, d_recovery, d_temp_v, d_temp_w);
  for (int s = 1; s < kSteps; ++s) {
    if (s % 2 == 1) cable_step<<<blocks, threads>>>(d_temp_v, d_temp_w, d_new_voltage, d_new_recovery);
    else cable_step<<<blocks, threads>>>(d_new_voltage, d_new_recovery, d_temp_v, d_temp_w);
  }
  cudaDeviceSynchronize();

  cudaMemcpy(h_new_voltage, d_new_voltage, kCables * kCells * sizeof(float), cudaMemcpyDeviceToHost);
  cudaMemcpy(h_new_recovery, d_new_recovery, kCables * kCells * sizeof(float), cudaMemcpyDeviceToHost);
  save_array("data/new_voltage.bin", h_new_voltage, kCables * kCells);
  save_array("data/new_recovery.bin", h_new_recovery, kCables * kCells);

  cudaFree(d_voltage);
  cudaFree(d_recovery);
  cudaFree(d_new_voltage);
  cudaFree(d_new_recovery);
  cudaFree(d_temp_v);
  cudaFree(d_temp_w);
  delete[] h_voltage;
  delete[] h_recovery;
  delete[] h_new_voltage;
  delete[] h_new_recovery;
  return 0;
}
