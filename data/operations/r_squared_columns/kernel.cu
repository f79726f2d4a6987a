#include <fstream>
#include <iostream>
#include <cuda_runtime.h>

const int kSamples = 500;
const int kOutputs = 40;

// 32 columns by 8 row groups a block: neighbouring threads read neighbouring columns.
__global__ void column_sums(const float* __restrict__ pred, const float* __restrict__ truth, double* sums) {
  __shared__ float part[3][8][32];
  const int x = threadIdx.x, y = threadIdx.y;
  const int j = blockIdx.x * 32 + x;
  float first = 0.0f, e2 = 0.0f, s1 = 0.0f, s2 = 0.0f;
  if (j < kOutputs) {
    first = truth[j];
    for (int i = blockIdx.y * 8 + y; i < kSamples; i += gridDim.y * 8) {
      const float v = truth[(size_t)i * kOutputs + j];
      const float e = v - pred[(size_t)i * kOutputs + j];
      const float d = v - first;
      e2 += e * e;
      s1 += d;
      s2 += d * d;
    }
  }
  part[0][y][x] = e2;
  part[1][y][x] = s1;
  part[2][y][x] = s2;
  __syncthreads();
  if (y < 3 && j < kOutputs) {
    double sum = 0.0;
    for (int k = 0; k < 8; ++k) sum += part[y][k][x];
    atomicAdd(&sums[y * kOutputs + j], sum);
  }
}

__global__ void finish(const double* sums, float* r2) {
  const int j = blockIdx.x * blockDim.x + threadIdx.x;
  if (j >= kOutputs) return;
  const double r = sums[j], s1 = sums[kOutputs + j];
  const double s = sums[2 * kOutputs + j] - s1 * s1 / kSamples;
  r2[j] = s > 0.0 ? (float)(1.0 - r / s) : (r == 0.0 ? 1.0f : 0.0f);
}

int main() {
  float* pred = nullptr;
  float* truth = nullptr;
  float* r2 = nullptr;
  double* sums = nullptr;
  cudaMallocManaged(&pred, kSamples * kOutputs * sizeof(float));
  cudaMallocManaged(&truth, kSamples * kOutputs * sizeof(float));
  cudaMallocManaged(&r2, kOutputs * sizeof(float));
  cudaMallocManaged(&sums, kOutputs * 3 * sizeof(double));

  std::ifstream pred_file("data/pred.bin", std::ios::binary);
  if (!pred_file.read(reinterpret_cast<char*>(pred), kSamples * kOutputs * sizeof(float))) {
    std::cerr << "data/pred.bin: read error" << std::endl;
    return 1;
  }
  std::ifstream truth_file("data/truth.bin", std::ios::binary);
  if (!truth_file.read(reinterpret_cast<char*>(truth), kSamples * kOutputs * sizeof(float))) {
    std::cerr << "data/truth.bin: read error" << std::endl;
    return 1;
  }
  cudaMemset(sums, 0, kOutputs * 3 * sizeof(double));

  column_sums<<<dim3((kOutputs + 31) / 32, 32), dim3(32, 8)>>>(pred, truth, sums);
  finish<<<(kOutputs + 63) / 64, 64>>>(sums, r2);
  cudaDeviceSynchronize();

  std::ofstream r2_file("data/r2.bin", std::ios::binary);
  r2_file.write(reinterpret_cast<const char*>(r2), kOutputs * sizeof(float));

  cudaFree(pred);
  cudaFree(truth);
  cudaFree(r2);
  cudaFree(sums);
  return 0;
}
