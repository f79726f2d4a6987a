#include <stdio.h>
#include <stdlib.h>
#include <cuda_runtime.h>

const int ROWS = 30;
const int UNITS = 257;

#define CUDA_CHECK(expr)                                                               \
  do {                                                                               \
    cudaError_t e = (expr);                                                        \
    if (e != cudaSuccess) {                                                        \
      fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(e)); \
      exit(1);                                                                   \
    }                                                                              \
  } while (0)

// A thread owns one column: the branch on the parameter is taken once for all its rows.
__global__ void soft_exponential_columns(const float* __restrict__ x, const float* __restrict__ alpha,
                                         float* __restrict__ y) {
  int j = blockIdx.x * blockDim.x + threadIdx.x;
  if (j >= UNITS) return;
  float a = alpha[j];
  if (a < 0.0f) {
    float scale = -1.0f / a;
    for (int r = blockIdx.y; r < ROWS; r += gridDim.y) {
      size_t at = (size_t)r * UNITS + j;
      y[at] = scale * log1pf(-a * (x[at] + a));
    }
  } else if (a > 0.0f) {
    float inv = 1.0f / a;
    for (int r = blockIdx.y; r < ROWS; r += gridDim.y) {
      size_t at = (size_t)r * UNITS + j;
      y[at] = fmaf(expm1f(a * x[at]), inv, a);
    }
  } else {
    for (int r = blockIdx.y; r < ROWS; r += gridDim.y) {
      size_t at = (size_t)r * UNITS + j;
      y[at] = x[at];
    }
  }
}

int main() {
  const int numel = ROWS * UNITS;
  float* host_x = (float*)malloc(numel * sizeof(float));
  float* host_alpha = (float*)malloc(UNITS * sizeof(float));
  float* host_y = (float*)malloc(numel * sizeof(float));

  FILE* fp = fopen("data/x.bin", "rb");
  if (!fp || fread(host_x, sizeof(float), numel, fp) != (size_t)numel) {
    fprintf(stderr, "cannot read data/x.bin\n");
    return 1;
  }
  fclose(fp);

  fp = fopen("data/alpha.bin", "rb");
  if (!fp || fread(host_alpha, sizeof(float), UNITS, fp) != (size_t)UNITS) {
    fprintf(stderr, "cannot read data/alpha.bin\n");
    return 1;
  }
  fclose(fp);

  float *dev_x = nullptr, *dev_alpha = nullptr, *dev_y = nullptr;
  CUDA_CHECK(cudaMalloc(&dev_x, numel * sizeof(float)));
  CUDA_CHECK(cudaMalloc(&dev_alpha, UNITS * sizeof(float)));
  CUDA_CHECK(cudaMalloc(&dev_y, numel * sizeof(float)));
  CUDA_CHECK(cudaMemcpy(dev_x, host_x, numel * sizeof(float), cudaMemcpyHostToDevice));
  CUDA_CHECK(cudaMemcpy(dev_alpha, host_alpha, UNITS * sizeof(float), cudaMemcpyHostToDevice));

  dim3 block(128);
  dim3 grid((UNITS + 128 - 1) / 128, ROWS < 64 ? ROWS : 64);
  soft_exponential_columns<<<grid, block>>>(dev_x, dev_alpha, dev_y);
  CUDA_CHECK(cudaGetLastError());
  CUDA_CHECK(cudaMemcpy(host_y, dev_y, numel * sizeof(float), cudaMemcpyDeviceToHost));

  fp = fopen("data/y.bin", "wb");
  if (!fp || fwrite(host_y, sizeof(float), numel, fp) != (size_t)numel) {
    fprintf(stderr, "cannot write data/y.bin\n");
    return 1;
  }
  fclose(fp);

  cudaFree(dev_y);
  cudaFree(dev_alpha);
  cudaFree(dev_x);
  free(host_x);
  free(host_alpha);
  free(host_y);
  return 0;
}
