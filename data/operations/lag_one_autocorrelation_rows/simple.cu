#include <cstdio>
#include <cstdlib>
#include <vector>
#include <cuda_runtime.h>

constexpr int kRows = 44;
constexpr int kCols = 512;
constexpr int kBlock = 256;

inline void checkCuda(cudaError_t status, const char* what) {
  if (status != cudaSuccess) {
    fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(status));
    exit(1);
  }
}

static bool read_raw(const char* path, void* data, size_t bytes) {
  FILE* f = fopen(path, "rb");
  if (!f) return false;
  bool ok = fread(data, 1, bytes, f) == bytes;
  fclose(f);
  return ok;
}

static bool write_raw(const char* path, const void* data, size_t bytes) {
  FILE* f = fopen(path, "wb");
  if (!f) return false;
  bool ok = fwrite(data, 1, bytes, f) == bytes;
  fclose(f);
  return ok;
}

__device__ float sum_over_block(float v, float* scratch) {
  int t = threadIdx.x;
  scratch[t] = v;
  __syncthreads();
  for (int s = kBlock / 2; s > 0; s /= 2) {
    if (t < s) scratch[t] += scratch[t + s];
    __syncthreads();
  }
  float total = scratch[0];
  __syncthreads();
  return total;
}

__global__ void autocorrelation(const float* x, float* rho, float* dw) {
  __shared__ float scratch[kBlock];
  const float* row = x + (size_t)blockIdx.x * kCols;
  float sum = 0.0f;
  for (int c = threadIdx.x; c < kCols; c += kBlock) sum += row[c];
  float m = sum_over_block(sum, scratch) / kCols;
  float v = 0.0f, lag = 0.0f, step = 0.0f;
  for (int c = threadIdx.x; c < kCols; c += kBlock) {
    float d = row[c] - m;
    v += d * d;
    if (c + 1 < kCols) {
      float next = row[c + 1] - m;
      lag += d * next;
      step += (next - d) * (next - d);
    }
  }
  v = sum_over_block(v, scratch);
  lag = sum_over_block(lag, scratch);
  step = sum_over_block(step, scratch);
  if (threadIdx.x == 0) {
    rho[blockIdx.x] = lag / v;
    dw[blockIdx.x] = step / v;
  }
}

int main() {
  const size_t count = (size_t)kRows * kCols;
  std::vector<float> host_x(count);
  std::vector<float> host_rho(kRows);
  std::vector<float> host_dw(kRows);
  if (!read_raw("data/x.bin", host_x.data(), count * sizeof(float))) {
    fprintf(stderr, "cannot read data/x.bin\n");
    return 1;
  }

  float* x_d;
  float* rho_d;
  float* dw_d;
  checkCuda(cudaMalloc(&x_d, count * sizeof(float)), "allocate x_d");
  checkCuda(cudaMalloc(&rho_d, kRows * sizeof(float)), "allocate rho_d");
  checkCuda(cudaMalloc(&dw_d, kRows * sizeof(float)), "allocate dw_d");
  checkCuda(cudaMemcpy(x_d, host_x.data(), count * sizeof(float), cudaMemcpyHostToDevice), "copy x_d");

  autocorrelation<<<kRows, kBlock>>>(x_d, rho_d, dw_d);
  checkCuda(cudaGetLastError(), "launch");
  checkCuda(cudaMemcpy(host_rho.data(), rho_d, kRows * sizeof(float), cudaMemcpyDeviceToHost), "copy host_rho");
  checkCuda(cudaMemcpy(host_dw.data(), dw_d, kRows * sizeof(float), cudaMemcpyDeviceToHost), "copy host_dw");

  if (!write_raw("data/rho.bin", host_rho.data(), kRows * sizeof(float))) {
    fprintf(stderr, "cannot write data/rho.bin\n");
    return 1;
  }
  if (!write_raw("data/dw.bin", host_dw.data(), kRows * sizeof(float))) {
    fprintf(stderr, "cannot write data/dw.bin\n");
    return 1;
  }
  cudaFree(x_d);
  cudaFree(rho_d);
  cudaFree(dw_d);
  return 0;
}
