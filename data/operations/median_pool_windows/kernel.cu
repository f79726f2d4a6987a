#include <cstdio>
#include <cuda_runtime.h>

constexpr int kPlanes = 3;
constexpr int kHeight = 80;
constexpr int kWidth = 100;

__device__ void sort3(float& a, float& b, float& c) {
  float lo = fminf(a, b), hi = fmaxf(a, b);
  a = fminf(lo, c);
  float mid = fmaxf(lo, c);
  b = fminf(mid, hi);
  c = fmaxf(mid, hi);
}

// Sort the three columns; the median of (largest low, median middle, smallest high) is the window's median.
__global__ void median_pool(const float* __restrict__ x, float* __restrict__ y) {
  const int oh = kHeight / 2, ow = kWidth / 2, total = kPlanes * oh * ow;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < total; i += gridDim.x * blockDim.x) {
    int c = 2 * (i % ow), r = 2 * (i / ow % oh);
    const float* plane = x + (size_t)(i / (ow * oh)) * kHeight * kWidth;
    const float* mid = plane + r * kWidth;
    const float* up = r > 0 ? mid - kWidth : mid;
    const float* down = mid + kWidth;
    float lo[3], me[3], hi[3];
    for (int k = 0; k < 3; ++k) {
      int cc = max(c + k - 1, 0);
      lo[k] = up[cc];
      me[k] = mid[cc];
      hi[k] = down[cc];
      sort3(lo[k], me[k], hi[k]);
    }
    float a = fmaxf(fmaxf(lo[0], lo[1]), lo[2]);
    float b = fminf(fminf(hi[0], hi[1]), hi[2]);
    sort3(me[0], me[1], me[2]);
    float m = me[1];
    sort3(a, m, b);
    y[i] = m;
  }
}

int main() {
  const size_t n_x = kPlanes * kHeight * kWidth;
  const size_t n_y = (size_t)kPlanes * (kHeight / 2) * (kWidth / 2);
  float* x;
  float* y;
  cudaMallocManaged(&x, n_x * sizeof(float));
  cudaMallocManaged(&y, n_y * sizeof(float));

  FILE* f_x = fopen("data/x.bin", "rb");
  if (!f_x || fread(x, sizeof(float), n_x, f_x) != n_x) {
    fprintf(stderr, "cannot read data/x.bin\n");
    return 1;
  }
  fclose(f_x);

  int outputs = kPlanes * (kHeight / 2) * (kWidth / 2);
  int blocks = (outputs + 256 - 1) / 256;
  median_pool<<<blocks > 4096 ? 4096 : blocks, 256>>>(x, y);
  cudaDeviceSynchronize();

  FILE* f_y = fopen("data/y.bin", "wb");
  if (!f_y || fwrite(y, sizeof(float), n_y, f_y) != n_y) return 1;
  fclose(f_y);

  cudaFree(x);
  cudaFree(y);
  return 0;
}
