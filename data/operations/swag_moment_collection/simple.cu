#include <cmath>
#include <fstream>
#include <vector>
#include <cuda_runtime.h>

const int N = 14000;

__global__ void swag_collect(const float* theta, const float* mean, const float* square, const int* models,
               float* mean_out, float* square_out, float* deviation, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    float k = (float)models[0];
    float w = theta[i];
    float m = (k * mean[i] + w) / (k + 1.0f);
    float s = (k * square[i] + w * w) / (k + 1.0f);
    mean_out[i] = m;
    square_out[i] = s;
    deviation[i] = sqrtf(fmaxf(s - m * m, 1e-6f));
  }
}

int main() {
  std::vector<float> hTheta(N);
  std::vector<float> hMean(N);
  std::vector<float> hSquare(N);
  std::vector<int> hModels(1);
  std::vector<float> h_mean_out(N);
  std::vector<float> h_square_out(N);
  std::vector<float> hDeviation(N);
  if (!std::ifstream("data/theta.bin", std::ios::binary)
       .read((char*)hTheta.data(), hTheta.size() * sizeof(float))) return 2;
  if (!std::ifstream("data/mean.bin", std::ios::binary)
       .read((char*)hMean.data(), hMean.size() * sizeof(float))) return 2;
  if (!std::ifstream("data/square.bin", std::ios::binary)
       .read((char*)hSquare.data(), hSquare.size() * sizeof(float))) return 2;
  if (!std::ifstream("data/models.bin", std::ios::binary)
       .read((char*)hModels.data(), hModels.size() * sizeof(int))) return 2;
  float *dev_theta, *dev_mean, *dev_square, *dev_mean_out, *dev_square_out, *dev_deviation;
  int* dev_models;
  cudaMalloc(&dev_theta, N * sizeof(float));
  cudaMalloc(&dev_mean, N * sizeof(float));
  cudaMalloc(&dev_square, N * sizeof(float));
  cudaMalloc(&dev_models, sizeof(int));
  cudaMalloc(&dev_mean_out, N * sizeof(float));
  cudaMalloc(&dev_square_out, N * sizeof(float));
  cudaMalloc(&dev_deviation, N * sizeof(float));
  cudaMemcpy(dev_theta, hTheta.data(), N * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemcpy(dev_mean, hMean.data(), N * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemcpy(dev_square, hSquare.data(), N * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemcpy(dev_models, hModels.data(), sizeof(int), cudaMemcpyHostToDevice);
  swag_collect<<<(N + 255) / 256, 256>>>(dev_theta, dev_mean, dev_square, dev_models, dev_mean_out,
          dev_square_out, dev_deviation, N);
  cudaMemcpy(h_mean_out.data(), dev_mean_out, N * sizeof(float), cudaMemcpyDeviceToHost);
  cudaMemcpy(h_square_out.data(), dev_square_out, N * sizeof(float), cudaMemcpyDeviceToHost);
  cudaMemcpy(hDeviation.data(), dev_deviation, N * sizeof(float), cudaMemcpyDeviceToHost);
  std::ofstream("data/mean_out.bin", std::ios::binary).write((char*)h_mean_out.data(),
          h_mean_out.size() * sizeof(float));
  std::ofstream("data/square_out.bin", std::ios::binary).write((char*)h_square_out.data(),
          h_square_out.size() * sizeof(float));
  std::ofstream("data/deviation.bin", std::ios::binary).write((char*)hDeviation.data(),
          hDeviation.size() * sizeof(float));
}
