#include <cuda_runtime.h>
#include <cstdio>
#include <cstdlib>
#include <vector>

constexpr int kRows = 40;
constexpr int kCols = 700;
constexpr int kBlock = 256;

inline void checkCuda(cudaError_t status, const char* what) {
  if (status != cudaSuccess) {
    fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(status));
    exit(1);
  }
}

static bool readFile(const char* path, void* data, size_t bytes) {
  FILE* f = fopen(path, "rb");
  if (!f) return false;
  bool ok = fread(data, 1, bytes, f) == bytes;
  fclose(f);
  return ok;
}

static bool writeFile(const char* path, const void* data, size_t bytes) {
  FILE* f = fopen(path, "wb");
  if (!f) return false;
  bool ok = fwrite(data, 1, bytes, f) == bytes;
  fclose(f);
  return ok;
}

__global__ void cubic_norm(const float* x, float* norm, float* peak) {
  __shared__ float sums[kBlock];
  __shared__ float tops[kBlock];
  const float* row = x + (size_t)blockIdx.x * kCols;
  int t = threadIdx.x;
  float sum = 0.0f, top = 0.0f;
  for (int c = t; c < kCols; c += kBlock) {
    float a = fabsf(row[c]);
    sum += a * a * a;
    top = fmaxf(top, a);
  }
  sums[t] = sum;
  tops[t] = top;
  __syncthreads();
  for (int s = kBlock / 2; s > 0; s /= 2) {
    if (t < s) {
      sums[t] += sums[t + s];
      tops[t] = fmaxf(tops[t], tops[t + s]);
    }
    __syncthreads();
  }
  if (t == 0) {
    norm[blockIdx.x] = cbrtf(sums[0]);
    peak[blockIdx.x] = tops[0];
  }
}

int main() {
  std::vector<float> x(kRows * kCols);
  std::vector<float> norm(kRows);
  std::vector<float> peak(kRows);
  if (!readFile("data/x.bin", x.data(), kRows * kCols * sizeof(float))) {
    fprintf(stderr, "cannot read data/x.bin\n");
    return 1;
  }

  float *d_x, *d_norm, *d_peak;
  checkCuda(cudaMalloc(&d_x, kRows * kCols * sizeof(float)), "allocate d_x");
  checkCuda(cudaMalloc(&d_norm, kRows * sizeof(float)), "allocate d_norm");
  checkCuda(cudaMalloc(&d_peak, kRows * sizeof(float)), "allocate d_peak");
  checkCuda(cudaMemcpy(d_x, x.data(), kRows * kCols * sizeof(float), cudaMemcpyHostToDevice), "copy d_x");

  cubic_norm<<<kRows, kBlock>>>(d_x, d_norm, d_peak);
  checkCuda(cudaGetLastError(), "launch");
  checkCuda(cudaMemcpy(norm.data(), d_norm, kRows * sizeof(float), cudaMemcpyDeviceToHost), "copy norm");
  checkCuda(cudaMemcpy(peak.data(), d_peak, kRows * sizeof(float), cudaMemcpyDeviceToHost), "copy peak");

  if (!writeFile("data/norm.bin", norm.data(), kRows * sizeof(float))) {
    fprintf(stderr, "cannot write data/norm.bin\n");
    return 1;
  }
  if (!writeFile("data/peak.bin", peak.data(), kRows * sizeof(float))) {
    fprintf(stderr, "cannot write data/peak.bin\n");
    return 1;
  }
  cudaFree(d_x);
  cudaFree(d_norm);
  cudaFree(d_peak);
  return 0;
}
