#include <fstream>
#include <iostream>
#include <vector>
#include <cuda_runtime.h>

const int kDim = 150;

__global__ void redundancy(const float* correlation, float* terms, float* gradient) {
  __shared__ float on[256], off[256];
  int t = threadIdx.x, row = blockIdx.x;
  on[t] = off[t] = 0.0f;
  for (int col = t; col < kDim; col += 256) {
    float c = correlation[row * kDim + col];
    if (row == col) {
      on[t] += (1.0f - c) * (1.0f - c);
      gradient[row * kDim + col] = -2.0f * (1.0f - c);
    } else {
      off[t] += c * c;
      gradient[row * kDim + col] = 0.01f * c;
    }
  }
  __syncthreads();
  for (int s = 128; s > 0; s /= 2) {
    if (t < s) {
      on[t] += on[t + s];
      off[t] += off[t + s];
    }
    __syncthreads();
  }
  if (t == 0) {
    atomicAdd(&terms[0], on[0]);
    atomicAdd(&terms[1], off[0]);
  }
}

int main() {
  std::vector<float> h_correlation(kDim * kDim), h_terms(2), h_gradient(kDim * kDim);
  std::ifstream correlation_in("data/correlation.bin", std::ios::binary);
  correlation_in.read(reinterpret_cast<char*>(h_correlation.data()), kDim * kDim * sizeof(float));
  if (!correlation_in) {
    std::cerr << "cannot read data/correlation.bin" << std::endl;
    return 1;
  }

  float* d_correlation = nullptr;
  float* d_terms = nullptr;
  float* d_gradient = nullptr;
  cudaMalloc(&d_correlation, kDim * kDim * sizeof(float));
  cudaMalloc(&d_terms, 2 * sizeof(float));
  cudaMalloc(&d_gradient, kDim * kDim * sizeof(float));
  cudaMemcpy(d_correlation, h_correlation.data(), kDim * kDim * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemset(d_terms, 0, 2 * sizeof(float));

  redundancy<<<kDim, 256>>>(d_correlation, d_terms, d_gradient);

  cudaError_t error = cudaDeviceSynchronize();
  if (error != cudaSuccess) {
    std::cerr << "GPU error: " << cudaGetErrorString(error) << std::endl;
    return 1;
  }
  cudaMemcpy(h_terms.data(), d_terms, 2 * sizeof(float), cudaMemcpyDeviceToHost);
  cudaMemcpy(h_gradient.data(), d_gradient, kDim * kDim * sizeof(float), cudaMemcpyDeviceToHost);

  std::ofstream out_terms("data/terms.bin", std::ios::binary);
  out_terms.write(reinterpret_cast<const char*>(h_terms.data()), 2 * sizeof(float));
  std::ofstream out_gradient("data/gradient.bin", std::ios::binary);
  out_gradient.write(reinterpret_cast<const char*>(h_gradient.data()), kDim * kDim * sizeof(float));
  cudaFree(d_correlation);
  cudaFree(d_terms);
  cudaFree(d_gradient);
  return 0;
}
