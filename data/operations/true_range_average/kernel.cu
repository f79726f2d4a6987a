#include <cstdio>
#include <cstdlib>
#include <vector>
#include <cuda_runtime.h>

#define ASSETS 40
#define DAYS 300
#define WARPS 4

inline void check(cudaError_t e, const char* what) {
  if (e != cudaSuccess) {
    fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(e));
    exit(1);
  }
}

static bool readFile(const char* path, std::vector<float>& v) {
  FILE* file = fopen(path, "rb");
  if (!file) return false;
  size_t got = fread(v.data(), sizeof(float), v.size(), file);
  fclose(file);
  return got == v.size();
}

static bool writeFile(const char* path, const std::vector<float>& v) {
  FILE* file = fopen(path, "wb");
  if (!file) return false;
  size_t put = fwrite(v.data(), sizeof(float), v.size(), file);
  fclose(file);
  return put == v.size();
}

// Each day is an affine map a * x + b of the average; a warp composes the maps of 32 days by a scan.
__global__ void average_true_range_scan(const float* __restrict__ high, const float* __restrict__ low,
                                        const float* __restrict__ close, float* __restrict__ atr) {
  const int lane = threadIdx.x;
  const int asset = blockIdx.x * WARPS + threadIdx.y;
  if (asset >= ASSETS) return;
  const size_t row = (size_t)asset * DAYS;
  float carry = 0.0f;
  for (int t0 = 0; t0 < DAYS; t0 += 32) {
    const int t = t0 + lane;
    float a = 1.0f, b = 0.0f;
    if (t < DAYS) {
      const float h = high[row + t], l = low[row + t];
      float range = h - l;
      if (t > 0) {
        const float before = close[row + t - 1];
        range = fmaxf(h, before) - fminf(l, before);
      }
      const float n = (float)min(t + 1, 14);
      a = (n - 1.0f) / n;
      b = range / n;
    }
    for (int s = 1; s < 32; s *= 2) {
      const float a_left = __shfl_up_sync(0xffffffffu, a, s);
      const float b_left = __shfl_up_sync(0xffffffffu, b, s);
      if (lane >= s) {
        b = fmaf(a, b_left, b);
        a *= a_left;
      }
    }
    const float average = fmaf(a, carry, b);
    if (t < DAYS) atr[row + t] = average;
    carry = __shfl_sync(0xffffffffu, average, 31);
  }
}

int main() {
  const size_t elements = (size_t)ASSETS * DAYS;
  std::vector<float> h_high(elements);
  std::vector<float> h_low(elements);
  std::vector<float> h_close(elements);
  std::vector<float> h_atr(elements);
  if (!readFile("data/high.bin", h_high)) {
    fprintf(stderr, "cannot read data/high.bin\n");
    return 1;
  }
  if (!readFile("data/low.bin", h_low)) {
    fprintf(stderr, "cannot read data/low.bin\n");
    return 1;
  }
  if (!readFile("data/close.bin", h_close)) {
    fprintf(stderr, "cannot read data/close.bin\n");
    return 1;
  }

  float* d_high = nullptr;
  check(cudaMalloc(&d_high, elements * sizeof(float)), "malloc d_high");
  check(cudaMemcpy(d_high, h_high.data(), elements * sizeof(float), cudaMemcpyHostToDevice), "copy d_high");
  float* d_low = nullptr;
  check(cudaMalloc(&d_low, elements * sizeof(float)), "malloc d_low");
  check(cudaMemcpy(d_low, h_low.data(), elements * sizeof(float), cudaMemcpyHostToDevice), "copy d_low");
  float* d_close = nullptr;
  check(cudaMalloc(&d_close, elements * sizeof(float)), "malloc d_close");
  check(cudaMemcpy(d_close, h_close.data(), elements * sizeof(float), cudaMemcpyHostToDevice), "copy d_close");
  float* d_atr = nullptr;
  check(cudaMalloc(&d_atr, elements * sizeof(float)), "malloc d_atr");

  average_true_range_scan<<<(ASSETS + WARPS - 1) / WARPS, dim3(32, WARPS)>>>(d_high, d_low, d_close, d_atr);
  check(cudaGetLastError(), "launch");
  check(cudaMemcpy(h_atr.data(), d_atr, elements * sizeof(float), cudaMemcpyDeviceToHost), "copy h_atr");

  if (!writeFile("data/atr.bin", h_atr)) return 1;
  cudaFree(d_high);
  cudaFree(d_low);
  cudaFree(d_close);
  cudaFree(d_atr);
  return 0;
}
