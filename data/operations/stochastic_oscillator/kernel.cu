#include <cfloat>
#include <cstdio>
#include <cuda_runtime.h>

constexpr int kAssets = 30;
constexpr int kDays = 250;
constexpr int kSpan = 128;
constexpr int kHalo = 15;

// A block computes 128 days in one pass: prices with 15 days before them, then the fast line with 2.
__global__ void oscillator(const float* __restrict__ high, const float* __restrict__ low,
                           const float* __restrict__ close, float* __restrict__ percent_k,
                           float* __restrict__ percent_d) {
  __shared__ float hi[kSpan + kHalo], lo[kSpan + kHalo], fast[kSpan + 2];
  const size_t row = (size_t)blockIdx.y * kDays;
  const int t0 = blockIdx.x * kSpan;
  for (int k = threadIdx.x; k < kSpan + kHalo; k += kSpan) {
    const int t = t0 + k - kHalo;
    const bool ok = t >= 0 && t < kDays;
    hi[k] = ok ? high[row + t] : -FLT_MAX;
    lo[k] = ok ? low[row + t] : FLT_MAX;
  }
  __syncthreads();
  for (int k = threadIdx.x; k < kSpan + 2; k += kSpan) {
    const int t = t0 + k - 2;
    float v = 0.0f;
    if (t >= 0 && t < kDays) {
      float top = hi[k], bottom = lo[k];
      for (int d = 1; d < 14; ++d) {
        top = fmaxf(top, hi[k + d]);
        bottom = fminf(bottom, lo[k + d]);
      }
      v = top > bottom ? 100.0f * (close[row + t] - bottom) / (top - bottom) : 50.0f;
      if (k >= 2) percent_k[row + t] = v;
    }
    fast[k] = v;
  }
  __syncthreads();
  const int t = t0 + threadIdx.x;
  if (t < kDays) {
    const float sum = fast[threadIdx.x] + fast[threadIdx.x + 1] + fast[threadIdx.x + 2];
    percent_d[row + t] = sum / (float)min(t + 1, 3);
  }
}

int main() {
  size_t len = (size_t)kAssets * kDays;
  float* high;
  float* low;
  float* close;
  float* percent_k;
  float* percent_d;
  cudaMallocManaged(&high, len * sizeof(float));
  cudaMallocManaged(&low, len * sizeof(float));
  cudaMallocManaged(&close, len * sizeof(float));
  cudaMallocManaged(&percent_k, len * sizeof(float));
  cudaMallocManaged(&percent_d, len * sizeof(float));

  FILE* f = fopen("data/high.bin", "rb");
  if (!f || fread(high, sizeof(float), len, f) != len) {
    puts("data/high.bin");
    return 1;
  }
  fclose(f);
  f = fopen("data/low.bin", "rb");
  if (!f || fread(low, sizeof(float), len, f) != len) {
    puts("data/low.bin");
    return 1;
  }
  fclose(f);
  f = fopen("data/close.bin", "rb");
  if (!f || fread(close, sizeof(float), len, f) != len) {
    perror("data/close.bin");
    return 1;
  }
  fclose(f);

  dim3 grid((kDays + kSpan - 1) / kSpan, kAssets);
  oscillator<<<grid, kSpan>>>(high, low, close, percent_k, percent_d);
  if (cudaDeviceSynchronize() != cudaSuccess) {
    fprintf(stderr, "kernel failed\n");
    return 1;
  }

  f = fopen("data/percent_k.bin", "wb");
  fwrite(percent_k, sizeof(float), len, f);
  fclose(f);
  f = fopen("data/percent_d.bin", "wb");
  fwrite(percent_d, sizeof(float), len, f);
  fclose(f);
  cudaFree(high);
  cudaFree(low);
  cudaFree(close);
  cudaFree(percent_k);
  cudaFree(percent_d);
  return 0;
}
