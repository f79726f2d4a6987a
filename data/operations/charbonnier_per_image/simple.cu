#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>
#include <vector>
#include <cuda_runtime.h>

template <typename T>
std::vector<T> readVector(const std::string& path, size_t n) {
  std::vector<T> data(n);
  std::ifstream stream(path, std::ios::binary);
  stream.read(reinterpret_cast<char*>(data.data()), n * sizeof(T));
  if (!stream) {
    std::cerr << "could not read " << path << std::endl;
    std::exit(1);
  }
  return data;
}

template <typename T>
void writeVector(const std::string& path, const std::vector<T>& data) {
  std::ofstream stream(path, std::ios::binary);
  stream.write(reinterpret_cast<const char*>(data.data()), data.size() * sizeof(T));
}
//@given

constexpr int kBatch = 3;
constexpr int kChannels = 3;
constexpr int kHeight = 40;
constexpr int kWidth = 37;

__global__ void charbonnier(const float* output, const float* clean, float* loss, int per_image) {
  __shared__ float sums[512];
  const float* a = output + (size_t)blockIdx.x * per_image;
  const float* b = clean + (size_t)blockIdx.x * per_image;
  float sum = 0.0f;
  for (int i = threadIdx.x; i < per_image; i += blockDim.x) {
    float d = a[i] - b[i];
    sum += sqrtf(d * d + 1e-4f);
  }
  sums[threadIdx.x] = sum;
  __syncthreads();
  for (int s = blockDim.x / 2; s > 0; s /= 2) {
    if (threadIdx.x < s) sums[threadIdx.x] += sums[threadIdx.x + s];
    __syncthreads();
  }
  if (threadIdx.x == 0) loss[blockIdx.x] = sums[0] / per_image;
}

int main() {
  auto h_output = readVector<float>("data/output.bin", kBatch * kChannels * kHeight * kWidth);
  auto h_clean = readVector<float>("data/clean.bin", kBatch * kChannels * kHeight * kWidth);

  float* d_output;
  cudaMalloc(&d_output, kBatch * kChannels * kHeight * kWidth * sizeof(float));
  float* d_clean;
  cudaMalloc(&d_clean, kBatch * kChannels * kHeight * kWidth * sizeof(float));
  float* d_loss;
  cudaMalloc(&d_loss, kBatch * sizeof(float));
  cudaMemcpy(d_output, h_output.data(), kBatch * kChannels * kHeight * kWidth * sizeof(float),
          cudaMemcpyHostToDevice);
  cudaMemcpy(d_clean, h_clean.data(), kBatch * kChannels * kHeight * kWidth * sizeof(float), cudaMemcpyHostToDevice);

  charbonnier<<<kBatch, 512>>>(d_output, d_clean, d_loss, kChannels * kHeight * kWidth);

  const auto status = cudaGetLastError();
  if (status != cudaSuccess) {
    std::cerr << "CUDA: " << cudaGetErrorString(status) << std::endl;
    return 1;
  }

  std::vector<float> h_loss(kBatch);
  cudaMemcpy(h_loss.data(), d_loss, kBatch * sizeof(float), cudaMemcpyDeviceToHost);
  writeVector("data/loss.bin", h_loss);
  cudaFree(d_output);
  cudaFree(d_clean);
  cudaFree(d_loss);
  return 0;
}
