#include <cuda_runtime.h>
#include <cstdio>
#include <cstdlib>

void fetch(const char* path, void* data, size_t bytes) {
  FILE* f = fopen(path, "rb");
  if (!f || fread(data, 1, bytes, f) != bytes) {
    fprintf(stderr, "cannot read %s\n", path);
    exit(1);
  }
  fclose(f);
}

void put(const char* path, const void* data, size_t bytes) {
  FILE* f = fopen(path, "wb");
  if (!f || fwrite(data, 1, bytes, f) != bytes) {
    fprintf(stderr, "cannot write %s\n", path);
    exit(1);
  }
  fclose(f);
}
//@given

constexpr int ROWS = 28;
constexpr int COLS = 600;
inline int ceil_div(int a, int b) { return (a + b - 1) / b; }

// With e = exp(v): tanh(ln(1 + e)) = (e * e + 2e) / (e * e + 2e + 2), so one exponential is enough.
__device__ float mish_slope(float v) {
  const float e = expf(fminf(v, 20.0f));
  const float m = e * (e + 2.0f);
  const float q = 1.0f / (m + 2.0f);
  const float w = m * q;
  const float rest = 4.0f * (m + 1.0f) * q * q;  // 1 - w * w
  return w + v * (e / (1.0f + e)) * rest;
}

__global__ void mish_backward_one_exp(const float* __restrict__ x, const float* __restrict__ grad_out,
                                      float* __restrict__ grad_in, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    grad_in[i] = grad_out[i] * mish_slope(x[i]);
  }
}

int main() {
  const int n = ROWS * COLS;
  float* h_x = new float[n];
  float* h_grad_out = new float[n];
  float* h_grad_in = new float[n];
  fetch("data/x.bin", h_x, n * sizeof(float));
  fetch("data/grad_out.bin", h_grad_out, n * sizeof(float));

  float *d_x = nullptr, *d_grad_out = nullptr, *d_grad_in = nullptr;
  cudaMalloc(&d_x, n * sizeof(float));
  cudaMalloc(&d_grad_out, n * sizeof(float));
  cudaMalloc(&d_grad_in, n * sizeof(float));
  cudaMemcpy(d_x, h_x, n * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemcpy(d_grad_out, h_grad_out, n * sizeof(float), cudaMemcpyHostToDevice);

  int grid = ceil_div(n, 1024);
  mish_backward_one_exp<<<grid, 256>>>(d_x, d_grad_out, d_grad_in, n);
  cudaError_t status = cudaDeviceSynchronize();
  if (status != cudaSuccess) {
    fprintf(stderr, "CUDA error: %s\n", cudaGetErrorString(status));
    return 1;
  }

  cudaMemcpy(h_grad_in, d_grad_in, n * sizeof(float), cudaMemcpyDeviceToHost);
  put("data/grad_in.bin", h_grad_in, n * sizeof(float));

  cudaFree(d_x);
  cudaFree(d_grad_out);
  cudaFree(d_grad_in);
  delete[] h_x;
  delete[] h_grad_out;
  delete[] h_grad_in;
  return 0;
}
