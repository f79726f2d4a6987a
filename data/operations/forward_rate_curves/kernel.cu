#include <cfloat>
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

static void load_array(const char* filename, void* data, size_t size) {
  FILE* f = fopen(filename, "rb");
  if (!f || fread(data, 1, size, f) != size) {
    fprintf(stderr, "cannot read %s\n", filename);
    exit(1);
  }
  fclose(f);
}

static void save_array(const char* filename, const void* data, size_t size) {
  FILE* f = fopen(filename, "wb");
  if (!f || fwrite(data, 1, size, f) != size) {
    fprintf(stderr, "cannot write %s\n", filename);
    exit(1);
  }
  fclose(f);
}
//@given

const int CURVES = 150;
const int TENORS = 40;
const int WARPS = 8;

#define CEIL_DIV(a, b) (((a) + (b) - 1) / (b))

// One warp a curve: the tenors lie across the lanes, and the largest forward rate is found with shuffles.
__global__ void curve_forwards_warp(const float* __restrict__ zero_rate, const float* __restrict__ time,
                                    float* __restrict__ discount, float* __restrict__ forward,
                                    int* __restrict__ steepest) {
  const int curve = blockIdx.x * WARPS + threadIdx.y;
  if (curve >= CURVES) return;
  const size_t row = (size_t)curve * TENORS;
  float best = -FLT_MAX;
  int where = 0;
  for (int k = threadIdx.x; k < TENORS; k += 32) {
    const float z = zero_rate[row + k], t = time[k];
    float f = z;
    if (k > 0) f = (z * t - zero_rate[row + k - 1] * time[k - 1]) / (t - time[k - 1]);
    discount[row + k] = expf(-z * t);
    forward[row + k] = f;
    if (f > best) {
      best = f;
      where = k;
    }
  }
  for (int s = 16; s > 0; s /= 2) {
    const float other = __shfl_down_sync(0xffffffffu, best, s);
    const int at = __shfl_down_sync(0xffffffffu, where, s);
    if (other > best || (other == best && at < where)) {
      best = other;
      where = at;
    }
  }
  if (threadIdx.x == 0) steepest[curve] = where;
}

int main() {
  const size_t total = (size_t)CURVES * TENORS;
  float* h_zero_rate = new float[total];
  float* h_time = new float[TENORS];
  float* h_discount = new float[total];
  float* h_forward = new float[total];
  int* h_steepest = new int[CURVES];
  load_array("data/zero_rate.bin", h_zero_rate, total * sizeof(float));
  load_array("data/time.bin", h_time, TENORS * sizeof(float));

  float* d_zero_rate = nullptr;
  cudaMalloc(&d_zero_rate, total * sizeof(float));
  cudaMemcpy(d_zero_rate, h_zero_rate, total * sizeof(float), cudaMemcpyHostToDevice);
  float* d_time = nullptr;
  cudaMalloc(&d_time, TENORS * sizeof(float));
  cudaMemcpy(d_time, h_time, TENORS * sizeof(float), cudaMemcpyHostToDevice);
  float* d_discount = nullptr;
  cudaMalloc(&d_discount, total * sizeof(float));
  float* d_forward = nullptr;
  cudaMalloc(&d_forward, total * sizeof(float));
  int* d_steepest = nullptr;
  cudaMalloc(&d_steepest, CURVES * sizeof(int));

  dim3 block(32, WARPS);
  curve_forwards_warp<<<CEIL_DIV(CURVES, WARPS), block>>>(d_zero_rate, d_time, d_discount, d_forward, d_steepest);
  cudaError_t status = cudaGetLastError();
  if (status != cudaSuccess) {
    fprintf(stderr, "kernel failed: %s\n", cudaGetErrorString(status));
    return 1;
  }
  cudaMemcpy(h_discount, d_discount, total * sizeof(float), cudaMemcpyDeviceToHost);
  cudaMemcpy(h_forward, d_forward, total * sizeof(float), cudaMemcpyDeviceToHost);
  cudaMemcpy(h_steepest, d_steepest, CURVES * sizeof(int), cudaMemcpyDeviceToHost);

  save_array("data/discount.bin", h_discount, total * sizeof(float));
  save_array("data/forward.bin", h_forward, total * sizeof(float));
  save_array("data/steepest.bin", h_steepest, CURVES * sizeof(int));
  cudaFree(d_zero_rate);
  cudaFree(d_time);
  cudaFree(d_discount);
  cudaFree(d_forward);
  cudaFree(d_steepest);
  delete[] h_zero_rate;
  delete[] h_time;
  delete[] h_discount;
  delete[] h_forward;
  delete[] h_steepest;
  return 0;
}
