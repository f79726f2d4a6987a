#include <cmath>
#include <fstream>
#include <iostream>
#include <vector>
#include <cuda_runtime.h>

constexpr int kN = 12000;
constexpr int kGroups = 30;

__global__ void deviance_blocks(const float* __restrict__ observed, const float* __restrict__ predicted,
                const int* __restrict__ group, float* __restrict__ sum, int* __restrict__ count) {
  __shared__ float block_sum[kGroups];
  __shared__ int block_count[kGroups];
  for (int g = threadIdx.x; g < kGroups; g += blockDim.x) {
    block_sum[g] = 0.0f;
    block_count[g] = 0;
  }
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < kN; i += gridDim.x * blockDim.x) {
    const float q = observed[i] / predicted[i];
    const int g = group[i];
    atomicAdd(&block_sum[g], q - 1.0f - logf(q));
    atomicAdd(&block_count[g], 1);
  }
  __syncthreads();
  for (int g = threadIdx.x; g < kGroups; g += blockDim.x) {
    if (block_count[g] == 0) continue;
    atomicAdd(&sum[g], block_sum[g]);
    atomicAdd(&count[g], block_count[g]);
  }
}

__global__ void group_means(const float* sum, const int* count, float* deviance) {
  const int g = blockIdx.x * blockDim.x + threadIdx.x;
  if (g < kGroups) deviance[g] = 2.0f * sum[g] / (float)max(count[g], 1);
}

int main() {
  std::vector<float> h_observed(kN);
  std::vector<float> h_predicted(kN);
  std::vector<int> h_group(kN);
  std::vector<float> h_deviance(kGroups);
  std::ifstream observed_file("data/observed.bin", std::ios::binary);
  observed_file.read((char*)h_observed.data(), kN * sizeof(float));
  if (!observed_file) {
    std::cerr << "cannot read data/observed.bin" << std::endl;
    return 1;
  }
  std::ifstream predicted_file("data/predicted.bin", std::ios::binary);
  predicted_file.read((char*)h_predicted.data(), kN * sizeof(float));
  if (!predicted_file) {
    std::cerr << "short read from data/predicted.bin" << std::endl;
    return 1;
  }
  std::ifstream group_file("data/group.bin", std::ios::binary);
  group_file.read((char*)h_group.data(), kN * sizeof(int));
  if (!group_file) {
    std::cerr << "failed to read data/group.bin" << std::endl;
    return 1;
  }

  float *d_observed, *d_predicted, *d_deviance, *d_sum;
  int *d_group, *d_count;
  cudaMalloc(&d_observed, kN * sizeof(float));
  cudaMalloc(&d_predicted, kN * sizeof(float));
  cudaMalloc(&d_group, kN * sizeof(int));
  cudaMalloc(&d_deviance, kGroups * sizeof(float));
  cudaMalloc(&d_sum, kGroups * sizeof(float));
  cudaMalloc(&d_count, kGroups * sizeof(int));
  cudaMemcpy(d_observed, h_observed.data(), kN * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemcpy(d_predicted, h_predicted.data(), kN * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemcpy(d_group, h_group.data(), kN * sizeof(int), cudaMemcpyHostToDevice);
  cudaMemset(d_sum, 0, kGroups * sizeof(float));
  cudaMemset(d_count, 0, kGroups * sizeof(int));

  deviance_blocks<<<160, 512>>>(d_observed, d_predicted, d_group, d_sum, d_count);
  group_means<<<(kGroups + 127) / 128, 128>>>(d_sum, d_count, d_deviance);

  cudaError_t err = cudaGetLastError();
  if (err != cudaSuccess) {
    std::cerr << "GPU error: " << cudaGetErrorString(err) << std::endl;
    return 1;
  }
  cudaMemcpy(h_deviance.data(), d_deviance, kGroups * sizeof(float), cudaMemcpyDeviceToHost);

  std::ofstream out_deviance("data/deviance.bin", std::ios::binary);
  out_deviance.write((const char*)h_deviance.data(), kGroups * sizeof(float));
  cudaFree(d_observed);
  cudaFree(d_predicted);
  cudaFree(d_group);
  cudaFree(d_deviance);
  cudaFree(d_sum);
  cudaFree(d_count);
  return 0;
}
