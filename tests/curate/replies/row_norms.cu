#include <cstdio>
#include <cuda_runtime.h>
#define BLOCK 256
__device__ float warpSum(float v){ for(int o=16;o>0;o>>=1) v += __shfl_down_sync(0xffffffff, v, o); return v; }
// one block a row: y[r] = sqrt(sum x^2)
__global__ void rowNorm(const float* x, float* y, int cols) {
  __shared__ float s[32];
  const float* row = x + (size_t)blockIdx.x * cols;
  float v = 0;
  for (int c = threadIdx.x; c < cols; c += blockDim.x) v += row[c]*row[c];
  v = warpSum(v);
  if (threadIdx.x % 32 == 0) s[threadIdx.x/32] = v;
  __syncthreads();
  if (threadIdx.x < 32) { v = threadIdx.x < blockDim.x/32 ? s[threadIdx.x] : 0; v = warpSum(v); if (!threadIdx.x) y[blockIdx.x] = sqrtf(v); }
}
int main(){ printf("hi\n"); }
