#include <cstdio>
#include <vector>

#include <cuda_runtime.h>

constexpr int ROWS = 32;
constexpr int COLS = 450;

__global__ void blend_row(const float* __restrict__ a, const float* __restrict__ b,
                          const float* __restrict__ row_weight, const float* __restrict__ col_weight,
                          float* __restrict__ out) {
  const float wr = row_weight[blockIdx.x];
  const size_t base = (size_t)blockIdx.x * COLS;
  for (int c = threadIdx.x; c < COLS; c += blockDim.x) {
    const float from = a[base + c];
    out[base + c] = fmaf(wr * col_weight[c], b[base + c] - from, from);
  }
}

int main() {
  const int total = ROWS * COLS;
  std::vector<float> a(total);
  std::vector<float> b(total);
  std::vector<float> row_weight(ROWS);
  std::vector<float> col_weight(COLS);
  std::vector<float> out(total);
  FILE* f = fopen("data/a.bin", "rb");
  if (!f || fread(a.data(), sizeof(float), total, f) != total) return 1;
  fclose(f);
  f = fopen("data/b.bin", "rb");
  if (!f || fread(b.data(), sizeof(float), total, f) != total) return 1;
  fclose(f);
  f = fopen("data/row_weight.bin", "rb");
  if (!f || fread(row_weight.data(), sizeof(float), ROWS, f) != ROWS) return 1;
  fclose(f);
  f = fopen("data/col_weight.bin", "rb");
  if (!f || fread(col_weight.data(), sizeof(float), COLS, f) != COLS) return 1;
  fclose(f);
  float *d_a, *d_b, *d_row_weight, *d_col_weight, *d_out;
  cudaMalloc(&d_a, total * sizeof(float));
  cudaMalloc(&d_b, total * sizeof(float));
  cudaMalloc(&d_row_weight, ROWS * sizeof(float));
  cudaMalloc(&d_col_weight, COLS * sizeof(float));
  cudaMalloc(&d_out, total * sizeof(float));
  cudaMemcpy(d_a, a.data(), total * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemcpy(d_b, b.data(), total * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemcpy(d_row_weight, row_weight.data(), ROWS * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemcpy(d_col_weight, col_weight.data(), COLS * sizeof(float), cudaMemcpyHostToDevice);
  blend_row<<<ROWS, 256>>>(d_a, d_b, d_row_weight, d_col_weight, d_out);
  cudaMemcpy(out.data(), d_out, total * sizeof(float), cudaMemcpyDeviceToHost);
  f = fopen("data/out.bin", "wb");
  fwrite(out.data(), sizeof(float), total, f);
  fclose(f);
}
