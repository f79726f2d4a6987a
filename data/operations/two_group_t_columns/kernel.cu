#include <cuda_runtime.h>
#include <cstdio>

static const int ROWS = 120;
static const int COLS = 200;
static const int TX = 32;
static const int TY = 8;

struct Stats {
  float n, mean, m2;
};

__device__ void push(Stats& s, float v) {
  s.n += 1.0f;
  float d = v - s.mean;
  s.mean += d / s.n;
  s.m2 += d * (v - s.mean);
}

__device__ void merge(Stats& a, const Stats& b) {
  if (b.n == 0.0f) return;
  float n = a.n + b.n;
  float d = b.mean - a.mean;
  a.mean += d * (b.n / n);
  a.m2 += b.m2 + d * d * (a.n * b.n / n);
  a.n = n;
}

// One pass with running means; the partial statistics of eight threads are merged per column.
__global__ void welch_t_onepass(const float* __restrict__ x, const unsigned char* __restrict__ group, float* t) {
  __shared__ Stats part[2][TY][TX];
  int c = blockIdx.x * TX + threadIdx.x;
  Stats zero = {0.0f, 0.0f, 0.0f}, one = {0.0f, 0.0f, 0.0f};
  if (c < COLS) {
    for (int r = threadIdx.y; r < ROWS; r += TY) {
      float v = x[(size_t)r * COLS + c];
      if (group[r]) push(one, v);
      else push(zero, v);
    }
  }
  part[0][threadIdx.y][threadIdx.x] = zero;
  part[1][threadIdx.y][threadIdx.x] = one;
  __syncthreads();
  if (threadIdx.y == 0 && c < COLS) {
    for (int k = 1; k < TY; ++k) {
      merge(zero, part[0][k][threadIdx.x]);
      merge(one, part[1][k][threadIdx.x]);
    }
    float v0 = zero.m2 / (zero.n - 1.0f) / zero.n;
    float v1 = one.m2 / (one.n - 1.0f) / one.n;
    t[c] = (one.mean - zero.mean) / sqrtf(v1 + v0 + 1e-6f);
  }
}

int main() {
  const size_t size = (size_t)ROWS * COLS;
  float* x;
  unsigned char* group;
  float* t;
  cudaMallocManaged(&x, size * sizeof(float));
  cudaMallocManaged(&group, ROWS * sizeof(unsigned char));
  cudaMallocManaged(&t, COLS * sizeof(float));

  FILE* fx = fopen("data/x.bin", "rb");
  if (!fx || fread(x, sizeof(float), size, fx) != size) {
    fprintf(stderr, "data/x.bin missing or short\n");
    return 1;
  }
  fclose(fx);
  FILE* fg = fopen("data/group.bin", "rb");
  if (!fg || fread(group, sizeof(unsigned char), ROWS, fg) != (size_t)ROWS) {
    fprintf(stderr, "data/group.bin missing or short\n");
    return 1;
  }
  fclose(fg);

  dim3 block(TX, TY);
  welch_t_onepass<<<(COLS - 1) / TX + 1, block>>>(x, group, t);
  cudaError_t err = cudaDeviceSynchronize();
  if (err != cudaSuccess) {
    fprintf(stderr, "%s\n", cudaGetErrorString(err));
    return 1;
  }

  FILE* fo = fopen("data/t.bin", "wb");
  fwrite(t, sizeof(float), COLS, fo);
  fclose(fo);

  cudaFree(x);
  cudaFree(group);
  cudaFree(t);
  return 0;
}
