#include <cuda_runtime.h>
#include <fstream>
#include <iostream>
#include <vector>

constexpr int N = 10000;

__global__ void lambert_w(const float* x, float* w, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    float target = x[i];
    float v = log1pf(target);
    for (int step = 0; step < 6; ++step) {
      float e = expf(v);
      float f = v * e - target;
      v -= f / (e * (v + 1.0f) - (v + 2.0f) * f / (2.0f * v + 2.0f));
    }
    w[i] = v;
  }
}

int main() {
  const size_t nbytes = N * sizeof(float);
  std::vector<float> h_x(N), h_w(N);
  std::ifstream fin("data/x.bin", std::ios::binary);
  fin.read(reinterpret_cast<char*>(h_x.data()), nbytes);
  if (!fin) {
    std::cerr << "could not read data/x.bin" << std::endl;
    return 1;
  }

  float* d_x;
  float* d_w;
  cudaMalloc(&d_x, nbytes);
  cudaMalloc(&d_w, nbytes);
  cudaMemcpy(d_x, h_x.data(), nbytes, cudaMemcpyHostToDevice);
  const int block = 256;
  const int grid = (N + block - 1) / block;
  lambert_w<<<grid, block>>>(d_x, d_w, N);
  cudaError_t err = cudaDeviceSynchronize();
  if (err != cudaSuccess) {
    std::cerr << "GPU: " << cudaGetErrorString(err) << std::endl;
    return 1;
  }

  cudaMemcpy(h_w.data(), d_w, nbytes, cudaMemcpyDeviceToHost);
  std::ofstream result_file("data/w.bin", std::ios::binary);
  result_file.write(reinterpret_cast<char*>(h_w.data()), nbytes);

  cudaFree(d_x);
  cudaFree(d_w);
  return 0;
}
