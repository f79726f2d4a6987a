#include <stdio.h>
#include <stdlib.h>
#include <cuda_runtime.h>

#define ROWS 50
#define COLS 400

#define CUDA_CHECK(call) \
  do { \
    cudaError_t code = (call); \
    if (code != cudaSuccess) { \
      fprintf(stderr, "CUDA error at line %d: %s\n", __LINE__, cudaGetErrorString(code)); \
      exit(1); \
    } \
  } while (0)

static void read_file(const char* path, void* dst, size_t bytes) {
  FILE* f = fopen(path, "rb");
  if (!f || fread(dst, 1, bytes, f) != bytes) {
    fprintf(stderr, "cannot read %s\n", path);
    exit(1);
  }
  fclose(f);
}

static void write_file(const char* path, const void* src, size_t bytes) {
  FILE* f = fopen(path, "wb");
  if (!f || fwrite(src, 1, bytes, f) != bytes) {
    fprintf(stderr, "cannot write %s\n", path);
    exit(1);
  }
  fclose(f);
}

__global__ void running_logsumexp(const float* x, float* y) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= ROWS) return;
  const float* in = x + (size_t)r * COLS;
  float* out = y + (size_t)r * COLS;
  float top = in[0];
  float sum = 0.0f;
  for (int c = 0; c < COLS; ++c) {
    float v = in[c];
    if (v > top) {
      sum = sum * expf(top - v) + 1.0f;
      top = v;
    } else {
      sum += expf(v - top);
    }
    out[c] = top + logf(sum);
  }
}

int main() {
  const int numel = ROWS * COLS;
  float* host_x = (float*)malloc(numel * sizeof(float));
  float* host_y = (float*)malloc(numel * sizeof(float));
  read_file("data/x.bin", host_x, numel * sizeof(float));

  float* dev_x;
  float* dev_y;
  CUDA_CHECK(cudaMalloc(&dev_x, numel * sizeof(float)));
  CUDA_CHECK(cudaMalloc(&dev_y, numel * sizeof(float)));
  CUDA_CHECK(cudaMemcpy(dev_x, host_x, numel * sizeof(float), cudaMemcpyHostToDevice));

  running_logsumexp<<<(ROWS + 64 - 1) / 64, 64>>>(dev_x, dev_y);
  CUDA_CHECK(cudaGetLastError());
  CUDA_CHECK(cudaDeviceSynchronize());
  CUDA_CHECK(cudaMemcpy(host_y, dev_y, numel * sizeof(float), cudaMemcpyDeviceToHost));

  write_file("data/y.bin", host_y, numel * sizeof(float));

  cudaFree(dev_x);
  cudaFree(dev_y);
  free(host_x);
  free(host_y);
  return 0;
}
