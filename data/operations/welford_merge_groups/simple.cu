#include <fstream>
#include <vector>
#include <cuda_runtime.h>

#define GROUPS 200
#define PARTS 20

__global__ void merge_parts(const int* counts, const float* means, const float* squares, float* mean,
                            float* variance) {
  int g = blockIdx.x * blockDim.x + threadIdx.x;
  if (g >= GROUPS) return;
  float n = 0.0f, m = 0.0f, q = 0.0f;
  for (int p = 0; p < PARTS; ++p) {
    size_t at = (size_t)g * PARTS + p;
    float nb = (float)counts[at];
    if (nb == 0.0f) continue;
    float total = n + nb;
    float delta = means[at] - m;
    m += delta * (nb / total);
    q += squares[at] + delta * delta * (n * nb / total);
    n = total;
  }
  mean[g] = m;
  variance[g] = q / (n - 1.0f);
}

int main() {
  const size_t numel = GROUPS * PARTS;
  std::vector<int> counts(numel);
  std::vector<float> means(numel);
  std::vector<float> squares(numel);
  std::vector<float> mean(GROUPS);
  std::vector<float> variance(GROUPS);
  if (!std::ifstream("data/counts.bin", std::ios::binary).read((char*)counts.data(), numel * sizeof(int))) return 1;
  if (!std::ifstream("data/means.bin", std::ios::binary).read((char*)means.data(), numel * sizeof(float))) return 1;
  if (!std::ifstream("data/squares.bin", std::ios::binary).read((char*)squares.data(),
    numel * sizeof(float))) return 1;
  int* d_counts; cudaMalloc(&d_counts, numel * sizeof(int));
  float* d_means; cudaMalloc(&d_means, numel * sizeof(float));
  float* d_squares; cudaMalloc(&d_squares, numel * sizeof(float));
  float* d_mean; cudaMalloc(&d_mean, GROUPS * sizeof(float));
  float* d_variance; cudaMalloc(&d_variance, GROUPS * sizeof(float));
  cudaMemcpy(d_counts, counts.data(), numel * sizeof(int), cudaMemcpyHostToDevice);
  cudaMemcpy(d_means, means.data(), numel * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemcpy(d_squares, squares.data(), numel * sizeof(float), cudaMemcpyHostToDevice);
  int block = 64;
  merge_parts<<<(GROUPS + block - 1) / block, block>>>(d_counts, d_means, d_squares, d_mean, d_variance);
  cudaMemcpy(mean.data(), d_mean, GROUPS * sizeof(float), cudaMemcpyDeviceToHost);
  cudaMemcpy(variance.data(), d_variance, GROUPS * sizeof(float), cudaMemcpyDeviceToHost);
  std::ofstream("data/mean.bin", std::ios::binary).write((char*)mean.data(), GROUPS * sizeof(float));
  std::ofstream("data/variance.bin", std::ios::binary).write((char*)variance.data(), GROUPS * sizeof(float));
  return 0;
}
