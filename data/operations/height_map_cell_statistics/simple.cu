#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>
#include <cuda_runtime.h>

void read_binary(const std::string& path, void* data, size_t bytes) {
  std::ifstream in(path, std::ios::binary);
  in.read(static_cast<char*>(data), bytes);
  if (!in) {
    std::cerr << "cannot read " << path << std::endl;
    std::exit(1);
  }
}

void write_binary(const std::string& path, const void* data, size_t bytes) {
  std::ofstream out(path, std::ios::binary);
  out.write(static_cast<const char*>(data), bytes);
}
//@given

static inline int div_up(int a, int b) { return (a + b - 1) / b; }

const int N = 8000;
const int GRID = 32;
const int CELLS = GRID * GRID;
const int LOWEST = -1000;

// Heights are counted in sixteenths, so integer atomics serve for sum and maximum.
__global__ void clear(int* count, int* sum, int* high) {
  int c = blockIdx.x * blockDim.x + threadIdx.x;
  if (c < CELLS) {
    count[c] = 0;
    sum[c] = 0;
    high[c] = LOWEST;
  }
}

__global__ void accumulate(const float* points, int* count, int* sum, int* high) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= N) return;
  float col = floorf(points[3 * i]);
  float row = floorf(points[3 * i + 1]);
  if (col < 0.0f || col >= GRID || row < 0.0f || row >= GRID) return;
  int c = (int)row * GRID + (int)col;
  int z = (int)(points[3 * i + 2] * 16.0f);
  atomicAdd(&count[c], 1);
  atomicAdd(&sum[c], z);
  atomicMax(&high[c], z);
}

__global__ void finish(const int* count, const int* sum, const int* high, float* mean_height, float* top) {
  int c = blockIdx.x * blockDim.x + threadIdx.x;
  if (c >= CELLS) return;
  mean_height[c] = count[c] > 0 ? sum[c] / 16.0f / count[c] : 0.0f;
  top[c] = count[c] > 0 ? high[c] / 16.0f : 0.0f;
}

int main() {
  float* h_points = new float[N * 3];
  int* h_count = new int[GRID * GRID];
  float* h_mean_height = new float[GRID * GRID];
  float* h_top = new float[GRID * GRID];
  read_binary("data/points.bin", h_points, N * 3 * sizeof(float));

  float *gpu_points, *gpu_mean_height, *gpu_top;
  int *gpu_count, *gpu_sum, *gpu_high;
  cudaMalloc(&gpu_points, N * 3 * sizeof(float));
  cudaMalloc(&gpu_count, GRID * GRID * sizeof(int));
  cudaMalloc(&gpu_mean_height, GRID * GRID * sizeof(float));
  cudaMalloc(&gpu_top, GRID * GRID * sizeof(float));
  cudaMalloc(&gpu_sum, CELLS * sizeof(int));
  cudaMalloc(&gpu_high, CELLS * sizeof(int));
  cudaMemcpy(gpu_points, h_points, N * 3 * sizeof(float), cudaMemcpyHostToDevice);

  int cell_blocks = div_up(CELLS, 256);
  clear<<<cell_blocks, 256>>>(gpu_count, gpu_sum, gpu_high);
  accumulate<<<div_up(N, 256), 256>>>(gpu_points, gpu_count, gpu_sum, gpu_high);
  finish<<<cell_blocks, 256>>>(gpu_count, gpu_sum, gpu_high, gpu_mean_height, gpu_top);

  cudaMemcpy(h_count, gpu_count, GRID * GRID * sizeof(int), cudaMemcpyDeviceToHost);
  cudaMemcpy(h_mean_height, gpu_mean_height, GRID * GRID * sizeof(float), cudaMemcpyDeviceToHost);
  cudaMemcpy(h_top, gpu_top, GRID * GRID * sizeof(float), cudaMemcpyDeviceToHost);
  write_binary("data/count.bin", h_count, GRID * GRID * sizeof(int));
  write_binary("data/mean_height.bin", h_mean_height, GRID * GRID * sizeof(float));
  write_binary("data/top.bin", h_top, GRID * GRID * sizeof(float));

  cudaFree(gpu_points);
  cudaFree(gpu_count);
  cudaFree(gpu_mean_height);
  cudaFree(gpu_top);
  cudaFree(gpu_sum);
  cudaFree(gpu_high);
  delete[] h_points;
  delete[] h_count;
  delete[] h_mean_height;
  delete[] h_top;
  return 0;
}
