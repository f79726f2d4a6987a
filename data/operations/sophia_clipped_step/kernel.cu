#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

#define N 13000

static bool read_exact(const char* path, void* dst, size_t bytes) {
  FILE* f = fopen(path, "rb");
  if (!f) return false;
  size_t got = fread(dst, 1, bytes, f);
  fclose(f);
  return got == bytes;
}

__global__ void sophia_counted(const float* __restrict__ theta, const float* __restrict__ grad,
                 const float* __restrict__ m, const float* __restrict__ hess,
                 float* __restrict__ theta_out, float* __restrict__ m_out, int* clipped) {
  __shared__ int block_count;
  if (threadIdx.x == 0) block_count = 0;
  __syncthreads();
  int mine = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < N; i += gridDim.x * blockDim.x) {
    const float mi = fmaf(0.96f, m[i], 0.04f * grad[i]);
    const float scale = fmaxf(0.05f * hess[i], 1e-12f);
    // |m| >= scale means a clipped element, without a division.
    float u;
    if (fabsf(mi) >= scale) {
      u = mi > 0.0f ? 1.0f : -1.0f;
      ++mine;
    } else {
      u = mi / scale;
    }
    m_out[i] = mi;
    theta_out[i] = 0.9999f * theta[i] - 0.002f * u;
  }
  for (int d = 16; d > 0; d >>= 1) mine += __shfl_down_sync(0xffffffffu, mine, d);
  if ((threadIdx.x & 31) == 0) atomicAdd(&block_count, mine);
  __syncthreads();
  if (threadIdx.x == 0) atomicAdd(clipped, block_count);
}

int main() {
  float *theta, *grad, *m, *hess, *theta_out, *m_out;
  int* clipped;
  cudaMallocManaged(&theta, N * sizeof(float));
  cudaMallocManaged(&grad, N * sizeof(float));
  cudaMallocManaged(&m, N * sizeof(float));
  cudaMallocManaged(&hess, N * sizeof(float));
  cudaMallocManaged(&theta_out, N * sizeof(float));
  cudaMallocManaged(&m_out, N * sizeof(float));
  cudaMallocManaged(&clipped, sizeof(int));

  if (!read_exact("data/theta.bin", theta, N * sizeof(float))) {
    fprintf(stderr, "cannot read data/theta.bin\n");
    return 1;
  }
  if (!read_exact("data/grad.bin", grad, N * sizeof(float))) {
    fprintf(stderr, "cannot read data/grad.bin\n");
    return 1;
  }
  if (!read_exact("data/m.bin", m, N * sizeof(float))) {
    fprintf(stderr, "cannot read data/m.bin\n");
    return 1;
  }
  if (!read_exact("data/hess.bin", hess, N * sizeof(float))) {
    fprintf(stderr, "cannot read data/hess.bin\n");
    return 1;
  }
  cudaMemset(clipped, 0, sizeof(int));

  sophia_counted<<<792, 256>>>(theta, grad, m, hess, theta_out, m_out, clipped);
  if (cudaDeviceSynchronize() != cudaSuccess) {
    fprintf(stderr, "%s\n", cudaGetErrorString(cudaGetLastError()));
    return 1;
  }

  FILE* theta_out_file = fopen("data/theta_out.bin", "wb");
  if (!theta_out_file) return 1;
  fwrite(theta_out, sizeof(float), N, theta_out_file);
  fclose(theta_out_file);
  FILE* m_out_file = fopen("data/m_out.bin", "wb");
  if (!m_out_file) return 1;
  fwrite(m_out, sizeof(float), N, m_out_file);
  fclose(m_out_file);
  FILE* clipped_file = fopen("data/clipped.bin", "wb");
  if (!clipped_file) return 1;
  fwrite(clipped, sizeof(int), 1, clipped_file);
  fclose(clipped_file);

  cudaFree(theta);
  cudaFree(grad);
  cudaFree(m);
  cudaFree(hess);
  cudaFree(theta_out);
  cudaFree(m_out);
  cudaFree(clipped);
  return 0;
}
