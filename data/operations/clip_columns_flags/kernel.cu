#include <fstream>
#include <iostream>
#include <vector>
#include <cuda_runtime.h>

constexpr int kRows = 64;
constexpr int kCols = 200;

__global__ void clip_strips(const float *__restrict__ x, const float *__restrict__ low, const float *__restrict__ high,
                            float *__restrict__ clipped, int *outside) {
  __shared__ int counts[2][32];
  if (threadIdx.y < 2) counts[threadIdx.y][threadIdx.x] = 0;
  __syncthreads();
  const int c = blockIdx.x * 32 + threadIdx.x;
  if (c < kCols) {
    const float lo = low[c], hi = high[c];
    int below = 0, above = 0;
    for (int r = blockIdx.y * 8 + threadIdx.y; r < kRows; r += gridDim.y * 8) {
      const size_t at = (size_t)r * kCols + c;
      const float v = x[at];
      below += v < lo;
      above += v > hi;
      clipped[at] = fminf(fmaxf(v, lo), hi);
    }
    atomicAdd(&counts[0][threadIdx.x], below);
    atomicAdd(&counts[1][threadIdx.x], above);
  }
  __syncthreads();
  if (threadIdx.y < 2 && c < kCols) atomicAdd(&outside[2 * c + threadIdx.y], counts[threadIdx.y][threadIdx.x]);
}

void run(const float *d_x, const float *d_low, const float *d_high, float *d_clipped, int *d_outside) {
  cudaMemset(d_outside, 0, 2 * kCols * sizeof(int));
  dim3 block(32, 8);
  dim3 grid((kCols + 31) / 32, 32);
  clip_strips<<<grid, block>>>(d_x, d_low, d_high, d_clipped, d_outside);
}

int main(void) {
  const size_t count = kRows * kCols;
  const size_t outside_size = kCols * 2;
  std::vector<float> h_x(count);
  std::vector<float> h_low(kCols);
  std::vector<float> h_high(kCols);
  std::vector<float> h_clipped(count);
  std::vector<int> h_outside(outside_size);
  std::ifstream x_file("data/x.bin", std::ios::binary);
  if (!x_file.read(reinterpret_cast<char*>(h_x.data()), count * sizeof(float))) {
    std::cerr << "cannot read data/x.bin" << std::endl;
    return 1;
  }
  std::ifstream low_file("data/low.bin", std::ios::binary);
  if (!low_file.read(reinterpret_cast<char*>(h_low.data()), kCols * sizeof(float))) {
    std::cerr << "cannot read data/low.bin" << std::endl;
    return 1;
  }
  std::ifstream high_file("data/high.bin", std::ios::binary);
  if (!high_file.read(reinterpret_cast<char*>(h_high.data()), kCols * sizeof(float))) {
    std::cerr << "cannot read data/high.bin" << std::endl;
    return 1;
  }

  float *d_x, *d_low, *d_high, *d_clipped;
  int *d_outside;
  cudaMalloc(&d_x, count * sizeof(float));
  cudaMalloc(&d_low, kCols * sizeof(float));
  cudaMalloc(&d_high, kCols * sizeof(float));
  cudaMalloc(&d_clipped, count * sizeof(float));
  cudaMalloc(&d_outside, outside_size * sizeof(int));
  cudaMemcpy(d_x, h_x.data(), count * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemcpy(d_low, h_low.data(), kCols * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemcpy(d_high, h_high.data(), kCols * sizeof(float), cudaMemcpyHostToDevice);
  run(d_x, d_low, d_high, d_clipped, d_outside);
  cudaMemcpy(h_clipped.data(), d_clipped, count * sizeof(float), cudaMemcpyDeviceToHost);
  cudaMemcpy(h_outside.data(), d_outside, outside_size * sizeof(int), cudaMemcpyDeviceToHost);

  std::ofstream out_clipped("data/clipped.bin", std::ios::binary);
  out_clipped.write(reinterpret_cast<const char*>(h_clipped.data()), count * sizeof(float));
  std::ofstream out_outside("data/outside.bin", std::ios::binary);
  out_outside.write(reinterpret_cast<const char*>(h_outside.data()), outside_size * sizeof(int));
  cudaFree(d_outside);
  cudaFree(d_clipped);
  cudaFree(d_high);
  cudaFree(d_low);
  cudaFree(d_x);
  return 0;
}
