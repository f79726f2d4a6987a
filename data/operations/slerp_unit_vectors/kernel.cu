#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>
#include <cuda_runtime.h>

void load_file(const std::string& path, void* data, size_t bytes) {
  std::ifstream in(path, std::ios::binary);
  if (!in.read(static_cast<char*>(data), bytes)) {
    std::cerr << "cannot read " << path << std::endl;
    exit(1);
  }
}

void store_file(const std::string& path, const void* data, size_t bytes) {
  std::ofstream out(path, std::ios::binary);
  out.write(static_cast<const char*>(data), bytes);
}
//@given

static inline int ceil_div(int a, int b) { return (a + b - 1) / b; }

static const int N = 3000;

// The vectors of a block pass through shared memory, so that global reads and writes are contiguous.
__global__ void slerp_staged(const float* __restrict__ a, const float* __restrict__ b, const float* __restrict__ t,
                             float* __restrict__ c, int n) {
  __shared__ float sa[3 * 128], sb[3 * 128];
  const int first = blockIdx.x * 128;
  const int here = min(128, n - first);
  for (int k = threadIdx.x; k < 3 * here; k += 128) {
    sa[k] = a[3 * first + k];
    sb[k] = b[3 * first + k];
  }
  __syncthreads();
  if (threadIdx.x < here) {
    float* p = sa + 3 * threadIdx.x;
    const float* q = sb + 3 * threadIdx.x;
    const float dot = p[0] * q[0] + p[1] * q[1] + p[2] * q[2];
    const float theta = acosf(fminf(fmaxf(dot, -1.0f), 1.0f));
    const float inv = 1.0f / sinf(theta);
    const float w = t[first + threadIdx.x];
    const float u = sinf((1.0f - w) * theta) * inv, v = sinf(w * theta) * inv;
    for (int k = 0; k < 3; ++k) p[k] = u * p[k] + v * q[k];
  }
  __syncthreads();
  for (int k = threadIdx.x; k < 3 * here; k += 128) c[3 * first + k] = sa[k];
}

int main() {
  const size_t total = N * 3;
  float* h_a = (float*)malloc(total * sizeof(float));
  float* h_b = (float*)malloc(total * sizeof(float));
  float* h_t = (float*)malloc(N * sizeof(float));
  float* h_c = (float*)malloc(total * sizeof(float));
  load_file("data/a.bin", h_a, total * sizeof(float));
  load_file("data/b.bin", h_b, total * sizeof(float));
  load_file("data/t.bin", h_t, N * sizeof(float));

  float* d_a = nullptr;
  float* d_b = nullptr;
  float* d_t = nullptr;
  float* d_c = nullptr;
  cudaMalloc(&d_a, total * sizeof(float));
  cudaMalloc(&d_b, total * sizeof(float));
  cudaMalloc(&d_t, N * sizeof(float));
  cudaMalloc(&d_c, total * sizeof(float));
  cudaMemcpy(d_a, h_a, total * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemcpy(d_b, h_b, total * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemcpy(d_t, h_t, N * sizeof(float), cudaMemcpyHostToDevice);

  slerp_staged<<<ceil_div(N, 128), 128>>>(d_a, d_b, d_t, d_c, N);
  cudaError_t rc = cudaGetLastError();
  if (rc != cudaSuccess) {
    std::cerr << "CUDA error: " << cudaGetErrorString(rc) << std::endl;
    return 1;
  }
  cudaMemcpy(h_c, d_c, total * sizeof(float), cudaMemcpyDeviceToHost);
  store_file("data/c.bin", h_c, total * sizeof(float));
  cudaFree(d_a);
  cudaFree(d_b);
  cudaFree(d_t);
  cudaFree(d_c);
  free(h_a);
  free(h_b);
  free(h_t);
  free(h_c);
  return 0;
}
