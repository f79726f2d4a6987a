#include <fstream>
#include <iostream>
#include <vector>
#include <cuda_runtime.h>

constexpr int CHANNELS = 16;
constexpr int LENGTH = 1000;

#define OUT (LENGTH - 12)

__global__ void dilated_min(const float* signal, float* low, int* offset) {
  int t = blockIdx.x * blockDim.x + threadIdx.x;
  int c = blockIdx.y;
  if (t >= OUT) return;
  const float* s = signal + (size_t)c * LENGTH + t;
  float best = s[0];
  int where = 0;
  for (int k = 1; k < 5; k++) {
    if (s[3 * k] < best) {
      best = s[3 * k];
      where = k;
    }
  }
  low[(size_t)c * OUT + t] = best;
  offset[(size_t)c * OUT + t] = where;
}

int main() {
  const int signal_size = CHANNELS * LENGTH;
  const int low_size = CHANNELS * (LENGTH - 12);
  std::vector<float> h_signal(signal_size), h_low(low_size);
  std::vector<int> h_offset(low_size);
  std::ifstream in_signal("data/signal.bin", std::ios::binary);
  in_signal.read(reinterpret_cast<char*>(h_signal.data()), signal_size * sizeof(float));
  if (!in_signal) {
    std::cerr << "failed to read data/signal.bin" << std::endl;
    return 1;
  }

  float *d_signal, *d_low;
  int *d_offset;
  cudaMalloc(&d_signal, signal_size * sizeof(float));
  cudaMalloc(&d_low, low_size * sizeof(float));
  cudaMalloc(&d_offset, low_size * sizeof(int));
  cudaMemcpy(d_signal, h_signal.data(), signal_size * sizeof(float), cudaMemcpyHostToDevice);

  dim3 grid((OUT + 256 - 1) / 256, CHANNELS);
  dilated_min<<<grid, 256>>>(d_signal, d_low, d_offset);
  cudaError_t error = cudaGetLastError();
  if (error != cudaSuccess) {
    std::cerr << "CUDA error: " << cudaGetErrorString(error) << "\n";
    return 1;
  }

  cudaMemcpy(h_low.data(), d_low, low_size * sizeof(float), cudaMemcpyDeviceToHost);
  cudaMemcpy(h_offset.data(), d_offset, low_size * sizeof(int), cudaMemcpyDeviceToHost);
  std::ofstream out_low("data/low.bin", std::ios::binary);
  out_low.write(reinterpret_cast<char*>(h_low.data()), low_size * sizeof(float));
  std::ofstream out_offset("data/offset.bin", std::ios::binary);
  out_offset.write(reinterpret_cast<char*>(h_offset.data()), low_size * sizeof(int));

  cudaFree(d_signal);
  cudaFree(d_low);
  cudaFree(d_offset);
  return 0;
}
