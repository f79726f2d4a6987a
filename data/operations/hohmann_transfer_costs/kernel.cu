#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

#define CHECK_CUDA(expr)                                                                \
  do {                                                                                \
    cudaError_t err = (expr);                                                       \
    if (err != cudaSuccess) {                                                       \
      fprintf(stderr, "CUDA: %s (line %d)\n", cudaGetErrorString(err), __LINE__); \
      exit(1);                                                                    \
    }                                                                               \
  } while (0)

#define N 4000

// sqrt(1 + q) - 1 is written as q / (sqrt(1 + q) + 1), which stays accurate for nearly equal radii.
__device__ float root_excess(float q) { return q / (sqrtf(1.0f + q) + 1.0f); }

__global__ void transfers(const float* __restrict__ inner, const float* __restrict__ outer,
                          float2* __restrict__ burns, float* __restrict__ hours) {
  const float root_mu = 631.348115f;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < N; i += gridDim.x * blockDim.x) {
    float r1 = inner[i], r2 = outer[i];
    float sum = r1 + r2;
    float q = (r2 - r1) / sum;
    float first = root_mu / sqrtf(r1) * root_excess(q);
    float second = -root_mu / sqrtf(r2) * root_excess(-q);
    burns[i] = make_float2(first, second);
    float a = 0.5f * sum;
    hours[i] = a * sqrtf(a) * (3.14159265f / 3600.0f / root_mu);
  }
}

int main() {
  float* host_inner = (float*)malloc(N * sizeof(float));
  float* host_outer = (float*)malloc(N * sizeof(float));
  float* host_burns = (float*)malloc(N * 2 * sizeof(float));
  float* host_hours = (float*)malloc(N * sizeof(float));

  FILE* f = fopen("data/inner.bin", "rb");
  if (!f || fread(host_inner, sizeof(float), N, f) != (size_t)N) {
    fprintf(stderr, "cannot read data/inner.bin\n");
    return 1;
  }
  fclose(f);
  f = fopen("data/outer.bin", "rb");
  if (!f || fread(host_outer, sizeof(float), N, f) != (size_t)N) {
    fprintf(stderr, "cannot read data/outer.bin\n");
    return 1;
  }
  fclose(f);

  float* d_inner;
  float* d_outer;
  float* d_burns;
  float* d_hours;
  CHECK_CUDA(cudaMalloc(&d_inner, N * sizeof(float)));
  CHECK_CUDA(cudaMalloc(&d_outer, N * sizeof(float)));
  CHECK_CUDA(cudaMalloc(&d_burns, N * 2 * sizeof(float)));
  CHECK_CUDA(cudaMalloc(&d_hours, N * sizeof(float)));
  CHECK_CUDA(cudaMemcpy(d_inner, host_inner, N * sizeof(float), cudaMemcpyHostToDevice));
  CHECK_CUDA(cudaMemcpy(d_outer, host_outer, N * sizeof(float), cudaMemcpyHostToDevice));

  int blocks = (N + 255) / 256;
  if (blocks > 512) blocks = 512;
  transfers<<<blocks, 256>>>(d_inner, d_outer, (float2*)d_burns, d_hours);
  CHECK_CUDA(cudaGetLastError());

  CHECK_CUDA(cudaMemcpy(host_burns, d_burns, N * 2 * sizeof(float), cudaMemcpyDeviceToHost));
  CHECK_CUDA(cudaMemcpy(host_hours, d_hours, N * sizeof(float), cudaMemcpyDeviceToHost));
  FILE* out = fopen("data/burns.bin", "wb");
  if (!out || fwrite(host_burns, sizeof(float), N * 2, out) != (size_t)(N * 2)) {
    fprintf(stderr, "cannot write data/burns.bin\n");
    return 1;
  }
  fclose(out);
  out = fopen("data/hours.bin", "wb");
  if (!out || fwrite(host_hours, sizeof(float), N, out) != (size_t)N) {
    fprintf(stderr, "cannot write data/hours.bin\n");
    return 1;
  }
  fclose(out);

  cudaFree(d_inner);
  cudaFree(d_outer);
  cudaFree(d_burns);
  cudaFree(d_hours);
  free(host_inner);
  free(host_outer);
  free(host_burns);
  free(host_hours);
  return 0;
}
