#include <cfloat>
#include <fstream>
#include <iostream>
#include <vector>
#include <cuda_runtime.h>

constexpr int kNodes = 400;
constexpr int kEdges = 3000;
constexpr int kDim = 24;
constexpr int kTotal = kNodes * kDim;

__global__ void max_neighbors(const int* row_start, const int* neighbor, const float* feature, float* pooled) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= kTotal) return;
  int v = i / kDim;
  int c = i % kDim;
  int begin = row_start[v], end = row_start[v + 1];
  float best = begin < end ? -FLT_MAX : 0.0f;
  for (int k = begin; k < end; ++k) {
    best = fmaxf(best, feature[neighbor[k] * kDim + c]);
  }
  pooled[i] = best;
}

int main() {
  std::vector<int> h_row_start(kNodes + 1);
  std::vector<int> h_neighbor(kEdges);
  std::vector<float> h_feature(kTotal);
  std::vector<float> h_pooled(kTotal);
  std::ifstream is_row_start("data/row_start.bin", std::ios::binary);
  if (!is_row_start.read((char*)h_row_start.data(), (kNodes + 1) * sizeof(int))) {
    std::cerr << "cannot read data/row_start.bin\n";
    return 1;
  }
  std::ifstream is_neighbor("data/neighbor.bin", std::ios::binary);
  if (!is_neighbor.read((char*)h_neighbor.data(), kEdges * sizeof(int))) {
    std::cerr << "cannot read data/neighbor.bin\n";
    return 1;
  }
  std::ifstream is_feature("data/feature.bin", std::ios::binary);
  if (!is_feature.read((char*)h_feature.data(), kTotal * sizeof(float))) {
    std::cerr << "cannot read data/feature.bin\n";
    return 1;
  }

  int* d_row_start = nullptr;
  int* d_neighbor = nullptr;
  float* d_feature = nullptr;
  float* d_pooled = nullptr;
  cudaMalloc(&d_row_start, (kNodes + 1) * sizeof(int));
  cudaMemcpy(d_row_start, h_row_start.data(), (kNodes + 1) * sizeof(int), cudaMemcpyHostToDevice);
  cudaMalloc(&d_neighbor, kEdges * sizeof(int));
  cudaMemcpy(d_neighbor, h_neighbor.data(), kEdges * sizeof(int), cudaMemcpyHostToDevice);
  cudaMalloc(&d_feature, kTotal * sizeof(float));
  cudaMemcpy(d_feature, h_feature.data(), kTotal * sizeof(float), cudaMemcpyHostToDevice);
  cudaMalloc(&d_pooled, kTotal * sizeof(float));

  int threads = 256;
  int blocks = (kTotal + threads - 1) / threads;
  max_neighbors<<<blocks, threads>>>(d_row_start, d_neighbor, d_feature, d_pooled);
  cudaError_t status = cudaDeviceSynchronize();
  if (status != cudaSuccess) {
    std::cerr << "CUDA error: " << cudaGetErrorString(status) << std::endl;
    return 1;
  }

  cudaMemcpy(h_pooled.data(), d_pooled, kTotal * sizeof(float), cudaMemcpyDeviceToHost);

  std::ofstream os("data/pooled.bin", std::ios::binary);
  os.write(reinterpret_cast<const char*>(h_pooled.data()), kTotal * sizeof(float));

  cudaFree(d_row_start);
  cudaFree(d_neighbor);
  cudaFree(d_feature);
  cudaFree(d_pooled);
  return 0;
}
