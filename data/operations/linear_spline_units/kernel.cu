#include <cstdio>
#include <vector>
#include <cuda_runtime.h>

#define ROWS 50
#define UNITS 120
#define KNOTS 9

// 32 units a block: their tables are copied to shared memory and used for a strip of rows.
__global__ void spline_shared(const float *__restrict__ x, const float *__restrict__ table, float *__restrict__ y) {
  __shared__ float knots[32 * KNOTS];
  const int u0 = blockIdx.x * 32;
  const int here = min(32, UNITS - u0);
  for (int i = threadIdx.y * 32 + threadIdx.x; i < here * KNOTS; i += 256) knots[i] = table[u0 * KNOTS + i];
  __syncthreads();
  if (threadIdx.x >= here) return;
  const float *mine = knots + threadIdx.x * KNOTS;
  const float scale = (KNOTS - 1) / 6.0f;
  for (int r = blockIdx.y * 8 + threadIdx.y; r < ROWS; r += gridDim.y * 8) {
    const size_t at = (size_t)r * UNITS + u0 + threadIdx.x;
    const float p = (x[at] + 3.0f) * scale;
    const int k = min(max(__float2int_rd(p), 0), KNOTS - 2);
    y[at] = fmaf(p - k, mine[k + 1] - mine[k], mine[k]);
  }
}

int main() {
  const size_t elements = ROWS * UNITS;
  const int table_size = UNITS * KNOTS;
  std::vector<float> x(elements);
  std::vector<float> table(table_size);
  std::vector<float> y(elements);
  FILE* f = fopen("data/x.bin", "rb");
  if (!f || fread(x.data(), sizeof(float), elements, f) != elements) return 1;
  fclose(f);
  f = fopen("data/table.bin", "rb");
  if (!f || fread(table.data(), sizeof(float), table_size, f) != table_size) return 1;
  fclose(f);
  float *d_x, *d_table, *d_y;
  cudaMalloc(&d_x, elements * sizeof(float));
  cudaMalloc(&d_table, table_size * sizeof(float));
  cudaMalloc(&d_y, elements * sizeof(float));
  cudaMemcpy(d_x, x.data(), elements * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemcpy(d_table, table.data(), table_size * sizeof(float), cudaMemcpyHostToDevice);
  dim3 block(32, 8);
  dim3 grid((UNITS + 32 - 1) / 32, min((ROWS + 7) / 8, 32));
  spline_shared<<<grid, block>>>(d_x, d_table, d_y);
  cudaMemcpy(y.data(), d_y, elements * sizeof(float), cudaMemcpyDeviceToHost);
  f = fopen("data/y.bin", "wb");
  fwrite(y.data(), sizeof(float), elements, f);
  fclose(f);
  cudaFree(d_x); cudaFree(d_table); cudaFree(d_y);
}
