#include <cuda_runtime.h>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>

void load_data(const std::string& path, float* buffer, size_t size) {
  std::ifstream stream(path, std::ios::binary);
  stream.read(reinterpret_cast<char*>(buffer), size * sizeof(float));
  if (!stream) {
    std::cerr << "could not open " << path << std::endl;
    exit(1);
  }
}

void save_data(const std::string& path, const float* buffer, size_t size) {
  std::ofstream file(path, std::ios::binary);
  file.write(reinterpret_cast<const char*>(buffer), size * sizeof(float));
}
//@given

const int PLANES = 4;
const int HEIGHT = 90;
const int WIDTH = 120;

const int kOutH = (HEIGHT - 3) / 2 + 1;
const int kOutW = (WIDTH - 3) / 2 + 1;

__device__ float cube(float v) {
  v = fabsf(v);
  return v * v * v;
}

// A thread makes one output column: the shared row of two neighbouring windows is summed only once.
__global__ void lp_pool_columns(const float* __restrict__ x, float* __restrict__ y) {
  int c = blockIdx.x * blockDim.x + threadIdx.x;
  if (c >= kOutW) return;
  const float* in = x + (size_t)blockIdx.y * HEIGHT * WIDTH + 2 * c;
  float* out = y + (size_t)blockIdx.y * kOutH * kOutW + c;
  float top = cube(in[0]) + cube(in[1]) + cube(in[2]);
  for (int r = 0; r < kOutH; ++r) {
    const float* mid = in + (size_t)(2 * r + 1) * WIDTH;
    const float* low = mid + WIDTH;
    float bottom = cube(low[0]) + cube(low[1]) + cube(low[2]);
    out[(size_t)r * kOutW] = cbrtf(top + cube(mid[0]) + cube(mid[1]) + cube(mid[2]) + bottom);
    top = bottom;
  }
}

int main() {
  const size_t x_size = PLANES * HEIGHT * WIDTH;
  const size_t y_size = (size_t)PLANES * ((HEIGHT - 3) / 2 + 1) * ((WIDTH - 3) / 2 + 1);
  float* h_x = new float[x_size];
  float* h_y = new float[y_size];
  load_data("data/x.bin", h_x, x_size);

  float *d_x, *d_y;
  cudaMalloc((void**)&d_x, x_size * sizeof(float));
  cudaMalloc((void**)&d_y, y_size * sizeof(float));
  cudaMemcpy(d_x, h_x, x_size * sizeof(float), cudaMemcpyHostToDevice);

  dim3 grid((kOutW + 64 - 1) / 64, PLANES);
  lp_pool_columns<<<grid, 64>>>(d_x, d_y);

  cudaMemcpy(h_y, d_y, y_size * sizeof(float), cudaMemcpyDeviceToHost);
  save_data("data/y.bin", h_y, y_size);

  cudaFree(d_x);
  cudaFree(d_y);
  delete[] h_x;
  delete[] h_y;
  return 0;
}
