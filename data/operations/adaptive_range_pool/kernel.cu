#include <cmath>
#include <cstdio>
#include <vector>
#include <cuda_runtime.h>

const int PLANES = 4;
const int HEIGHT = 50;
const int WIDTH = 60;
const int OUT_H = 7;
const int OUT_W = 9;
const int BLOCK = 128;

// A block makes one output row of a plane: first the extremes of each column over the rows, then of the cells.
__global__ void range_pool_row(const float* __restrict__ x, const float* __restrict__ offset,
                               float* __restrict__ spread) {
  __shared__ float high[WIDTH], low[WIDTH];
  const int i = blockIdx.x;
  const int y0 = i * HEIGHT / OUT_H, y1 = ((i + 1) * HEIGHT + OUT_H - 1) / OUT_H;
  const float* plane = x + (size_t)blockIdx.y * HEIGHT * WIDTH;
  for (int c = threadIdx.x; c < WIDTH; c += BLOCK) {
    float a = plane[y0 * WIDTH + c], b = a;
    for (int y = y0 + 1; y < y1; ++y) {
      const float v = plane[y * WIDTH + c];
      a = fmaxf(a, v);
      b = fminf(b, v);
    }
    high[c] = a;
    low[c] = b;
  }
  __syncthreads();
  for (int j = threadIdx.x; j < OUT_W; j += BLOCK) {
    const int x0 = j * WIDTH / OUT_W, x1 = ((j + 1) * WIDTH + OUT_W - 1) / OUT_W;
    float a = high[x0], b = low[x0];
    for (int c = x0 + 1; c < x1; ++c) {
      a = fmaxf(a, high[c]);
      b = fminf(b, low[c]);
    }
    spread[((size_t)blockIdx.y * OUT_H + i) * OUT_W + j] = (a - b) + offset[i * OUT_W + j];
  }
}

int main() {
  const size_t xSize = PLANES * HEIGHT * WIDTH;
  const size_t offsetSize = OUT_H * OUT_W;
  const size_t spreadSize = PLANES * OUT_H * OUT_W;
  std::vector<float> x(xSize);
  std::vector<float> offset(offsetSize);
  std::vector<float> spread(spreadSize);
  FILE* f_x = fopen("data/x.bin", "rb");
  if (!f_x || !fread(x.data(), xSize * sizeof(float), 1, f_x)) return 1;
  fclose(f_x);
  FILE* f_offset = fopen("data/offset.bin", "rb");
  if (!f_offset || !fread(offset.data(), offsetSize * sizeof(float), 1, f_offset)) return 1;
  fclose(f_offset);
  float* d_x; cudaMalloc(&d_x, xSize * sizeof(float));
  float* d_offset; cudaMalloc(&d_offset, offsetSize * sizeof(float));
  float* d_spread; cudaMalloc(&d_spread, spreadSize * sizeof(float));
  cudaMemcpy(d_x, x.data(), xSize * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemcpy(d_offset, offset.data(), offsetSize * sizeof(float), cudaMemcpyHostToDevice);
  range_pool_row<<<dim3(OUT_H, PLANES), BLOCK>>>(d_x, d_offset, d_spread);
  cudaMemcpy(spread.data(), d_spread, spreadSize * sizeof(float), cudaMemcpyDeviceToHost);
  FILE* o_spread = fopen("data/spread.bin", "wb");
  fwrite(spread.data(), sizeof(float), spreadSize, o_spread);
  fclose(o_spread);
  return 0;
}
