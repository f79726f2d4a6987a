#include <cstdio>
#include <cuda_runtime.h>

constexpr int kCurves = 150;
constexpr int kTenors = 40;

__global__ void curve_forwards(const float* zero_rate, const float* time, float* discount, float* forward,
                               int* steepest) {
  int c = blockIdx.x * blockDim.x + threadIdx.x;
  if (c >= kCurves) return;
  float previous = 0.0f, previous_time = 0.0f, best = -1e30f;
  int where = 0;
  for (int k = 0; k < kTenors; k++) {
    int i = c * kTenors + k;
    float zt = zero_rate[i] * time[k];
    float f = (zt - previous) / (time[k] - previous_time);
    discount[i] = expf(-zt);
    forward[i] = f;
    if (f > best) {
      best = f;
      where = k;
    }
    previous = zt;
    previous_time = time[k];
  }
  steepest[c] = where;
}

int main() {
  const size_t num = (size_t)kCurves * kTenors;
  float *zero_rate, *time, *discount, *forward;
  int *steepest;
  cudaMallocManaged(&zero_rate, num * sizeof(float));
  cudaMallocManaged(&time, kTenors * sizeof(float));
  cudaMallocManaged(&discount, num * sizeof(float));
  cudaMallocManaged(&forward, num * sizeof(float));
  cudaMallocManaged(&steepest, kCurves * sizeof(int));

  FILE* f = fopen("data/zero_rate.bin", "rb");
  if (!f || fread(zero_rate, sizeof(float), num, f) != num) {
    puts("data/zero_rate.bin");
    return 1;
  }
  fclose(f);
  f = fopen("data/time.bin", "rb");
  if (!f || fread(time, sizeof(float), kTenors, f) != kTenors) {
    puts("data/time.bin");
    return 1;
  }
  fclose(f);

  curve_forwards<<<(kCurves + 127) / 128, 128>>>(zero_rate, time, discount, forward, steepest);
  if (cudaDeviceSynchronize() != cudaSuccess) {
    fprintf(stderr, "kernel failed\n");
    return 1;
  }

  f = fopen("data/discount.bin", "wb");
  fwrite(discount, sizeof(float), num, f);
  fclose(f);
  f = fopen("data/forward.bin", "wb");
  fwrite(forward, sizeof(float), num, f);
  fclose(f);
  f = fopen("data/steepest.bin", "wb");
  fwrite(steepest, sizeof(int), kCurves, f);
  fclose(f);
  cudaFree(zero_rate);
  cudaFree(time);
  cudaFree(discount);
  cudaFree(forward);
  cudaFree(steepest);
  return 0;
}
