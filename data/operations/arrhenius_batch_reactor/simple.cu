#include <fstream>
#include <iostream>
#include <vector>
#include <cuda_runtime.h>

const int N = 1000;

__device__ void rates(float k1, float k2, const float* y, float* dy) {
  dy[0] = -k1 * y[0];
  dy[1] = k1 * y[0] - k2 * y[1];
  dy[2] = k2 * y[1];
}

__global__ void react(const float* temperature, const float* start, float* amounts, float* peak) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= N) return;
  const float dt = 0.5f;
  float rt = 8.314f * temperature[i];
  float k1 = 2e6f * expf(-50000.0f / rt);
  float k2 = 5e5f * expf(-48000.0f / rt);
  float y[3], tmp[3], s1[3], s2[3], s3[3], s4[3];
  for (int c = 0; c < 3; ++c) y[c] = start[3 * i + c];
  float best = y[1];
  for (int step = 0; step < 100; ++step) {
    rates(k1, k2, y, s1);
    for (int c = 0; c < 3; ++c) tmp[c] = y[c] + 0.5f * dt * s1[c];
    rates(k1, k2, tmp, s2);
    for (int c = 0; c < 3; ++c) tmp[c] = y[c] + 0.5f * dt * s2[c];
    rates(k1, k2, tmp, s3);
    for (int c = 0; c < 3; ++c) tmp[c] = y[c] + dt * s3[c];
    rates(k1, k2, tmp, s4);
    for (int c = 0; c < 3; ++c) y[c] += dt / 6.0f * (s1[c] + 2.0f * s2[c] + 2.0f * s3[c] + s4[c]);
    best = fmaxf(best, y[1]);
  }
  for (int c = 0; c < 3; ++c) amounts[3 * i + c] = y[c];
  peak[i] = best;
}

int main() {
  std::vector<float> h_temperature(N);
  std::vector<float> h_start(N * 3);
  std::vector<float> h_amounts(N * 3);
  std::vector<float> h_peak(N);

  std::ifstream in_temperature("data/temperature.bin", std::ios::binary);
  in_temperature.read(reinterpret_cast<char*>(h_temperature.data()), h_temperature.size() * sizeof(float));
  if (!in_temperature) {
    std::cerr << "failed to read data/temperature.bin" << std::endl;
    return 1;
  }
  std::ifstream in_start("data/start.bin", std::ios::binary);
  in_start.read(reinterpret_cast<char*>(h_start.data()), h_start.size() * sizeof(float));
  if (!in_start) {
    std::cerr << "missing or short data/start.bin" << std::endl;
    return 1;
  }

  float* d_temperature;
  float* d_start;
  float* d_amounts;
  float* d_peak;
  cudaMalloc(&d_temperature, N * sizeof(float));
  cudaMalloc(&d_start, N * 3 * sizeof(float));
  cudaMalloc(&d_amounts, N * 3 * sizeof(float));
  cudaMalloc(&d_peak, N * sizeof(float));
  cudaMemcpy(d_temperature, h_temperature.data(), N * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemcpy(d_start, h_start.data(), N * 3 * sizeof(float), cudaMemcpyHostToDevice);

  int threads = 128;
  react<<<(N + threads - 1) / threads, threads>>>(d_temperature, d_start, d_amounts, d_peak);

  cudaError_t status = cudaDeviceSynchronize();
  if (status != cudaSuccess) {
    std::cerr << "CUDA error: " << cudaGetErrorString(status) << std::endl;
    return 1;
  }
  cudaMemcpy(h_amounts.data(), d_amounts, N * 3 * sizeof(float), cudaMemcpyDeviceToHost);
  cudaMemcpy(h_peak.data(), d_peak, N * sizeof(float), cudaMemcpyDeviceToHost);
  std::ofstream out_amounts("data/amounts.bin", std::ios::binary);
  out_amounts.write(reinterpret_cast<const char*>(h_amounts.data()), N * 3 * sizeof(float));
  std::ofstream out_peak("data/peak.bin", std::ios::binary);
  out_peak.write(reinterpret_cast<const char*>(h_peak.data()), N * sizeof(float));

  cudaFree(d_temperature);
  cudaFree(d_start);
  cudaFree(d_amounts);
  cudaFree(d_peak);
  return 0;
}
