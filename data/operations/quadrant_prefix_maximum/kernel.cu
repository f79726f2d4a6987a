#include <cmath>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>
#include <cuda_runtime.h>

void read_binary(const std::string& path, void* buffer, size_t bytes) {
  std::ifstream file(path, std::ios::binary);
  if (!file.read(reinterpret_cast<char*>(buffer), bytes)) {
    std::cerr << "Error reading " << path << std::endl;
    exit(EXIT_FAILURE);
  }
}

void write_binary(const std::string& path, const void* buffer, size_t bytes) {
  std::ofstream file(path, std::ios::binary);
  file.write(reinterpret_cast<const char*>(buffer), bytes);
}
//@given

#define DIV_UP(a, b) (((a) + (b) - 1) / (b))

const int ROWS = 120;
const int COLS = 150;
const int WARPS = 4;
const int TX = 32;
const int TY = 8;
const int SPAN = (ROWS + TY - 1) / TY;

// A warp per row with shuffles.
__global__ void scan_rows_warp(const float* __restrict__ x, float* __restrict__ best) {
  int r = blockIdx.x * WARPS + threadIdx.x / 32;
  if (r >= ROWS) return;
  int lane = threadIdx.x % 32;
  float carry = -INFINITY;
  for (int start = 0; start < COLS; start += 32) {
    int c = start + lane;
    float m = c < COLS ? x[(size_t)r * COLS + c] : -INFINITY;
    for (int s = 1; s < 32; s *= 2) {
      float other = __shfl_up_sync(0xffffffffu, m, s);
      if (lane >= s) m = fmaxf(m, other);
    }
    m = fmaxf(m, carry);
    if (c < COLS) best[(size_t)r * COLS + c] = m;
    carry = __shfl_sync(0xffffffffu, m, 31);
  }
}

// Eight bands per column, joined through shared memory.
__global__ void scan_columns_bands(float* best) {
  __shared__ float band[TY][TX];
  int c = blockIdx.x * TX + threadIdx.x;
  int begin = threadIdx.y * SPAN, end = min(begin + SPAN, ROWS);
  float m = -INFINITY;
  if (c < COLS) {
    for (int r = begin; r < end; ++r) m = fmaxf(m, best[(size_t)r * COLS + c]);
  }
  band[threadIdx.y][threadIdx.x] = m;
  __syncthreads();
  if (c >= COLS) return;
  m = -INFINITY;
  for (int k = 0; k < threadIdx.y; ++k) m = fmaxf(m, band[k][threadIdx.x]);
  for (int r = begin; r < end; ++r) {
    m = fmaxf(m, best[(size_t)r * COLS + c]);
    best[(size_t)r * COLS + c] = m;
  }
}

int main() {
  const size_t count = (size_t)ROWS * COLS;
  float* host_x = new float[count];
  float* host_best = new float[count];
  read_binary("data/x.bin", host_x, count * sizeof(float));

  float* dev_x = nullptr;
  float* dev_best = nullptr;
  cudaMalloc(&dev_x, count * sizeof(float));
  cudaMalloc(&dev_best, count * sizeof(float));
  cudaMemcpy(dev_x, host_x, count * sizeof(float), cudaMemcpyHostToDevice);

  scan_rows_warp<<<DIV_UP(ROWS, WARPS), 32 * WARPS>>>(dev_x, dev_best);
  scan_columns_bands<<<DIV_UP(COLS, TX), dim3(TX, TY)>>>(dev_best);
  cudaDeviceSynchronize();

  cudaMemcpy(host_best, dev_best, count * sizeof(float), cudaMemcpyDeviceToHost);
  write_binary("data/best.bin", host_best, count * sizeof(float));

  cudaFree(dev_x);
  cudaFree(dev_best);
  delete[] host_x;
  delete[] host_best;
  return 0;
}
