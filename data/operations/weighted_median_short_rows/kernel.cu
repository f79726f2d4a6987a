#include <cuda_runtime.h>
#include <cstdio>
#include <vector>

#define ROWS 150
#define WIDTH 45
#define WARPS 4

// A warp per row. An element is the median when less than half lies strictly below it and at least half up to it.
__global__ void weighted_median_warp(const float* __restrict__ x, const int* __restrict__ weight, float* median) {
  __shared__ float values[WARPS][WIDTH];
  __shared__ int weights[WARPS][WIDTH];
  int warp = threadIdx.x >> 5, lane = threadIdx.x & 31;
  int r = blockIdx.x * WARPS + warp;
  if (r >= ROWS) return;
  float* v = values[warp];
  int* w = weights[warp];
  int total = 0;
  for (int i = lane; i < WIDTH; i += 32) {
    v[i] = x[(size_t)r * WIDTH + i];
    w[i] = weight[(size_t)r * WIDTH + i];
    total += w[i];
  }
  for (int s = 16; s > 0; s >>= 1) total += __shfl_xor_sync(0xffffffffu, total, s);
  __syncwarp();
  for (int i = lane; i < WIDTH; i += 32) {
    int less = 0, equal = 0;
    for (int j = 0; j < WIDTH; ++j) {
      if (v[j] < v[i]) less += w[j];
      else if (v[j] == v[i]) equal += w[j];
    }
    // Equal elements write the same value.
    if (2 * less < total && 2 * (less + equal) >= total) median[r] = v[i];
  }
}

int main() {
  const size_t count = (size_t)ROWS * WIDTH;
  std::vector<float> x(count), median(ROWS);
  std::vector<int> weight(count);
  FILE* f0 = fopen("data/x.bin", "rb");
  if (!f0 || fread(x.data(), sizeof(float), count, f0) != count) return 1;
  fclose(f0);
  FILE* f1 = fopen("data/weight.bin", "rb");
  if (!f1 || fread(weight.data(), sizeof(int), count, f1) != count) return 1;
  fclose(f1);
  float *d_x, *d_median;
  int* d_weight;
  cudaMalloc(&d_x, count * sizeof(float));
  cudaMalloc(&d_weight, count * sizeof(int));
  cudaMalloc(&d_median, ROWS * sizeof(float));
  cudaMemcpy(d_x, x.data(), count * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemcpy(d_weight, weight.data(), count * sizeof(int), cudaMemcpyHostToDevice);
  weighted_median_warp<<<(ROWS + WARPS - 1) / WARPS, 32 * WARPS>>>(d_x, d_weight, d_median);
  cudaMemcpy(median.data(), d_median, ROWS * sizeof(float), cudaMemcpyDeviceToHost);
  FILE* g = fopen("data/median.bin", "wb");
  fwrite(median.data(), sizeof(float), ROWS, g);
  fclose(g);
  cudaFree(d_x); cudaFree(d_weight); cudaFree(d_median);
  return 0;
}
