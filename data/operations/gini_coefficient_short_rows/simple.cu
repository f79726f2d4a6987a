#include <cuda_runtime.h>
#include <cstdio>
#include <cstdlib>

#define CHECK(call) \
  do { \
    cudaError_t rc_ = (call); \
    if (rc_ != cudaSuccess) { \
      fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(rc_)); \
      exit(1); \
    } \
  } while (0)

#define ROWS 200
#define WIDTH 50
#define BLOCK 128

__global__ void gini_rows(const float* income, float* gini) {
  __shared__ float row[WIDTH];
  __shared__ float diffs[BLOCK], totals[BLOCK];
  int t = threadIdx.x;
  for (int i = t; i < WIDTH; i += BLOCK) row[i] = income[(size_t)blockIdx.x * WIDTH + i];
  __syncthreads();
  float diff = 0.0f, total = 0.0f;
  for (int i = t; i < WIDTH; i += BLOCK) {
    float v = row[i];
    total += v;
    for (int j = 0; j < WIDTH; ++j) diff += fabsf(v - row[j]);
  }
  diffs[t] = diff;
  totals[t] = total;
  __syncthreads();
  for (int s = BLOCK / 2; s > 0; s /= 2) {
    if (t < s) {
      diffs[t] += diffs[t + s];
      totals[t] += totals[t + s];
    }
    __syncthreads();
  }
  if (t == 0) {
    float sum = totals[0];
    gini[blockIdx.x] = sum > 0.0f ? diffs[0] / (2.0f * WIDTH * sum) : 0.0f;
  }
}

int main() {
  const int count = ROWS * WIDTH;
  float* h_income = (float*)malloc(count * sizeof(float));
  float* h_gini = (float*)malloc(ROWS * sizeof(float));
  FILE* file = fopen("data/income.bin", "rb");
  if (!file || fread(h_income, sizeof(float), count, file) != (size_t)count) {
    fprintf(stderr, "error reading data/income.bin\n");
    return 1;
  }
  fclose(file);

  float *d_income, *d_gini;
  CHECK(cudaMalloc(&d_income, count * sizeof(float)));
  CHECK(cudaMalloc(&d_gini, ROWS * sizeof(float)));
  CHECK(cudaMemcpy(d_income, h_income, count * sizeof(float), cudaMemcpyHostToDevice));

  gini_rows<<<ROWS, BLOCK>>>(d_income, d_gini);
  CHECK(cudaGetLastError());
  CHECK(cudaDeviceSynchronize());
  CHECK(cudaMemcpy(h_gini, d_gini, ROWS * sizeof(float), cudaMemcpyDeviceToHost));

  FILE* result_file = fopen("data/gini.bin", "wb");
  if (!result_file || fwrite(h_gini, sizeof(float), ROWS, result_file) != (size_t)ROWS) {
    fprintf(stderr, "cannot write data/gini.bin\n");
    return 1;
  }
  fclose(result_file);

  cudaFree(d_income);
  cudaFree(d_gini);
  free(h_income);
  free(h_gini);
  return 0;
}
