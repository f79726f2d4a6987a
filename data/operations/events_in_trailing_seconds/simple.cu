#include <cuda_runtime.h>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>

template <typename T>
void readFile(const std::string& path, T* buffer, size_t size) {
  std::ifstream file(path, std::ios::binary);
  if (!file.is_open()) {
    std::cerr << "Cannot open " << path << std::endl;
    exit(1);
  }
  file.read(reinterpret_cast<char*>(buffer), size * sizeof(T));
}

template <typename T>
void writeFile(const std::string& path, const T* buffer, size_t size) {
  std::ofstream stream(path, std::ios::binary);
  stream.write(reinterpret_cast<const char*>(buffer), size * sizeof(T));
}
//@given

constexpr int kSources = 40;
constexpr int kEvents = 400;

__global__ void trailing_events(const float* time, const float* amount, int* recent, float* volume) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  int s = blockIdx.y;
  if (i >= kEvents) return;
  size_t base = (size_t)s * kEvents;
  float border = time[base + i] - 8.0f;
  int count = 0;
  float sum = 0.0f;
  for (int j = i; j >= 0 && time[base + j] > border; --j) {
    ++count;
    sum += amount[base + j];
  }
  recent[base + i] = count;
  volume[base + i] = sum;
}

int main() {
  const size_t numel = (size_t)kSources * kEvents;
  float* h_time = new float[numel];
  float* h_amount = new float[numel];
  int* h_recent = new int[numel];
  float* h_volume = new float[numel];
  readFile("data/time.bin", h_time, numel);
  readFile("data/amount.bin", h_amount, numel);

  float *d_time, *d_amount, *d_volume;
  int* d_recent = nullptr;
  cudaMalloc(&d_time, numel * sizeof(float));
  cudaMalloc(&d_amount, numel * sizeof(float));
  cudaMalloc(&d_recent, numel * sizeof(int));
  cudaMalloc(&d_volume, numel * sizeof(float));
  cudaMemcpy(d_time, h_time, numel * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemcpy(d_amount, h_amount, numel * sizeof(float), cudaMemcpyHostToDevice);

  dim3 threads(128);
  dim3 blocks((kEvents + 128 - 1) / 128, kSources);
  trailing_events<<<blocks, threads>>>(d_time, d_amount, d_recent, d_volume);
  cudaError_t err = cudaGetLastError();
  if (err != cudaSuccess) {
    std::cerr << "launch: " << cudaGetErrorString(err) << std::endl;
    return 1;
  }

  cudaMemcpy(h_recent, d_recent, numel * sizeof(int), cudaMemcpyDeviceToHost);
  cudaMemcpy(h_volume, d_volume, numel * sizeof(float), cudaMemcpyDeviceToHost);
  writeFile("data/recent.bin", h_recent, numel);
  writeFile("data/volume.bin", h_volume, numel);

  cudaFree(d_time);
  cudaFree(d_amount);
  cudaFree(d_recent);
  cudaFree(d_volume);
  delete[] h_time;
  delete[] h_amount;
  delete[] h_recent;
  delete[] h_volume;
  return 0;
}
