#include <cuda_runtime.h>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>

void load(const std::string& path, void* buffer, size_t bytes) {
  std::ifstream in(path, std::ios::binary);
  if (!in.read(static_cast<char*>(buffer), bytes)) {
    std::cerr << "cannot read " << path << std::endl;
    std::exit(1);
  }
}

void store(const std::string& path, const void* buffer, size_t bytes) {
  std::ofstream out(path, std::ios::binary);
  out.write(static_cast<const char*>(buffer), bytes);
}
//@given

#define CEIL_DIV(a, b) (((a) + (b) - 1) / (b))
constexpr int ROWS = 16;
constexpr int COLS = 500;

const int TILE = 256;

__global__ void smooth_and_slope(const float* __restrict__ trace, float* __restrict__ smooth,
                                 float* __restrict__ slope) {
  __shared__ float s[TILE + 6];
  const size_t row = (size_t)blockIdx.y * COLS;
  const int start = blockIdx.x * TILE;
  for (int i = threadIdx.x; i < TILE + 6; i += TILE) {
    int j = abs(start + i - 3);
    if (j >= COLS) j = max(2 * (COLS - 1) - j, 0);
    s[i] = trace[row + j];
  }
  __syncthreads();
  int c = start + threadIdx.x;
  if (c >= COLS) return;
  // Even weights act on sums, odd weights on differences of the mirrored pairs.
  const float* p = s + threadIdx.x + 3;
  smooth[row + c] = (7.0f * p[0] + 6.0f * (p[1] + p[-1]) + 3.0f * (p[2] + p[-2]) - 2.0f * (p[3] + p[-3])) / 21.0f;
  slope[row + c] = (58.0f * (p[1] - p[-1]) + 67.0f * (p[2] - p[-2]) - 22.0f * (p[3] - p[-3])) / 252.0f;
}

int main() {
  const int elements = ROWS * COLS;
  float* trace = new float[elements];
  float* smooth = new float[elements];
  float* slope = new float[elements];
  load("data/trace.bin", trace, sizeof(float) * elements);

  float* dev_trace = nullptr;
  float* dev_smooth = nullptr;
  float* dev_slope = nullptr;
  cudaMalloc(&dev_trace, sizeof(float) * elements);
  cudaMalloc((void**)&dev_smooth, sizeof(float) * elements);
  cudaMalloc(&dev_slope, sizeof(float) * elements);
  cudaMemcpy(dev_trace, trace, sizeof(float) * elements, cudaMemcpyHostToDevice);

  dim3 grid(CEIL_DIV(COLS, TILE), ROWS);
  smooth_and_slope<<<grid, TILE>>>(dev_trace, dev_smooth, dev_slope);

  cudaMemcpy(smooth, dev_smooth, sizeof(float) * elements, cudaMemcpyDeviceToHost);
  cudaMemcpy(slope, dev_slope, sizeof(float) * elements, cudaMemcpyDeviceToHost);
  store("data/smooth.bin", smooth, sizeof(float) * elements);
  store("data/slope.bin", slope, sizeof(float) * elements);

  cudaFree(dev_trace);
  cudaFree(dev_smooth);
  cudaFree(dev_slope);
  delete[] trace;
  delete[] smooth;
  delete[] slope;
  return 0;
}
