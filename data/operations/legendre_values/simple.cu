#include <cuda_runtime.h>
#include <cstdio>
#include <cstdlib>

#define N 4000
#define DEGREE 9

#define CUDA_CALL(x)                                                                     \
  {                                                                                    \
    cudaError_t err_ = (x);                                                          \
    if (err_ != cudaSuccess) {                                                       \
      fprintf(stderr, "CUDA: %s (line %d)\n", cudaGetErrorString(err_), __LINE__); \
      exit(1);                                                                     \
    }                                                                                \
  }

static void load(const char* path, void* dst, size_t bytes) {
  FILE* f = fopen(path, "rb");
  if (!f || fread(dst, 1, bytes, f) != bytes) {
    fprintf(stderr, "incomplete file %s\n", path);
    exit(1);
  }
  fclose(f);
}

static void save(const char* path, const void* src, size_t bytes) {
  FILE* f = fopen(path, "wb");
  if (!f || fwrite(src, 1, bytes, f) != bytes) {
    fprintf(stderr, "error writing %s\n", path);
    exit(1);
  }
  fclose(f);
}

__global__ void legendre(const float* x, const float* weight, float* p, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    float t = x[i];
    float before = 1.0f, now = t;
    p[i] = weight[0];
    p[n + i] = weight[1] * now;
    for (int l = 1; l < DEGREE; ++l) {
      float next = ((2 * l + 1) * t * now - l * before) / (l + 1);
      before = now;
      now = next;
      p[(size_t)(l + 1) * n + i] = weight[l + 1] * now;
    }
  }
}

int main() {
  const int weight_count = DEGREE + 1;
  const size_t n_p = (DEGREE + 1) * N;
  float* h_x = (float*)malloc(N * sizeof(float));
  float* h_weight = (float*)malloc(weight_count * sizeof(float));
  float* h_p = (float*)malloc(n_p * sizeof(float));
  load("data/x.bin", h_x, N * sizeof(float));
  load("data/weight.bin", h_weight, weight_count * sizeof(float));

  float *d_x, *d_weight, *d_p;
  CUDA_CALL(cudaMalloc(&d_x, N * sizeof(float)));
  CUDA_CALL(cudaMalloc(&d_weight, weight_count * sizeof(float)));
  CUDA_CALL(cudaMalloc(&d_p, n_p * sizeof(float)));
  CUDA_CALL(cudaMemcpy(d_x, h_x, N * sizeof(float), cudaMemcpyHostToDevice));
  CUDA_CALL(cudaMemcpy(d_weight, h_weight, weight_count * sizeof(float), cudaMemcpyHostToDevice));

  const int threads = 256;
  const int blocks = (N + threads - 1) / threads;
  legendre<<<blocks, threads>>>(d_x, d_weight, d_p, N);
  CUDA_CALL(cudaGetLastError());
  CUDA_CALL(cudaDeviceSynchronize());
  CUDA_CALL(cudaMemcpy(h_p, d_p, n_p * sizeof(float), cudaMemcpyDeviceToHost));

  save("data/p.bin", h_p, n_p * sizeof(float));

  CUDA_CALL(cudaFree(d_x));
  CUDA_CALL(cudaFree(d_weight));
  CUDA_CALL(cudaFree(d_p));
  free(h_x);
  free(h_weight);
  free(h_p);
  return 0;
}
