#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

#define SEGMENTS 50
#define LENGTH 200

// One block per segment; pairs travel as float2 and the count needs no atomics.
__global__ void widen_segment(const float2* __restrict__ stereo, const float* __restrict__ width,
                              float2* __restrict__ widened, int* __restrict__ clipped) {
  const float w = width[blockIdx.x];
  const size_t base = (size_t)blockIdx.x * LENGTH;
  int count = 0;
  for (int start = 0; start < LENGTH; start += blockDim.x) {
    const int t = start + threadIdx.x;
    bool hotLeft = false, hotRight = false;
    if (t < LENGTH) {
      float2 p = stereo[base + t];
      float mid = 0.5f * (p.x + p.y);
      float side = 0.5f * w * (p.x - p.y);
      p = make_float2(mid + side, mid - side);
      hotLeft = fabsf(p.x) > 1.0f;
      hotRight = fabsf(p.y) > 1.0f;
      p.x = hotLeft ? copysignf(1.0f, p.x) : p.x;
      p.y = hotRight ? copysignf(1.0f, p.y) : p.y;
      widened[base + t] = p;
    }
    count += __syncthreads_count(hotLeft) + __syncthreads_count(hotRight);
  }
  if (threadIdx.x == 0) clipped[blockIdx.x] = count;
}

int main() {
  float* h_stereo = (float*)malloc(sizeof(float) * SEGMENTS * LENGTH * 2);
  float* h_width = (float*)malloc(sizeof(float) * SEGMENTS);
  float* h_widened = (float*)malloc(sizeof(float) * SEGMENTS * LENGTH * 2);
  int* h_clipped = (int*)malloc(sizeof(int) * SEGMENTS);
  FILE* f = fopen("data/stereo.bin", "rb");
  if (!f || fread(h_stereo, sizeof(float), SEGMENTS * LENGTH * 2, f) != (size_t)(SEGMENTS * LENGTH * 2)) return 1;
  fclose(f);
  f = fopen("data/width.bin", "rb");
  if (!f || fread(h_width, sizeof(float), SEGMENTS, f) != (size_t)(SEGMENTS)) return 1;
  fclose(f);
  float *d_stereo, *d_width, *d_widened;
  int *d_clipped;
  cudaMalloc(&d_stereo, sizeof(float) * SEGMENTS * LENGTH * 2);
  cudaMalloc(&d_width, sizeof(float) * SEGMENTS);
  cudaMalloc(&d_widened, sizeof(float) * SEGMENTS * LENGTH * 2);
  cudaMalloc(&d_clipped, sizeof(int) * SEGMENTS);
  cudaMemcpy(d_stereo, h_stereo, sizeof(float) * SEGMENTS * LENGTH * 2, cudaMemcpyHostToDevice);
  cudaMemcpy(d_width, h_width, sizeof(float) * SEGMENTS, cudaMemcpyHostToDevice);
  widen_segment<<<SEGMENTS, 128>>>((const float2*)d_stereo, d_width, (float2*)d_widened, d_clipped);
  cudaMemcpy(h_widened, d_widened, sizeof(float) * SEGMENTS * LENGTH * 2, cudaMemcpyDeviceToHost);
  cudaMemcpy(h_clipped, d_clipped, sizeof(int) * SEGMENTS, cudaMemcpyDeviceToHost);
  f = fopen("data/widened.bin", "wb");
  fwrite(h_widened, sizeof(float), SEGMENTS * LENGTH * 2, f);
  fclose(f);
  f = fopen("data/clipped.bin", "wb");
  fwrite(h_clipped, sizeof(int), SEGMENTS, f);
  fclose(f);
  return 0;
}
