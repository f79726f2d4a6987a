#include <stdio.h>
#include <stdlib.h>
#include <cuda_runtime.h>

#define CK(call) \
  do { \
    cudaError_t err = (call); \
    if (err != cudaSuccess) { \
      fprintf(stderr, "CUDA: %s (%s:%d)\n", cudaGetErrorString(err), __FILE__, __LINE__); \
      exit(1); \
    } \
  } while (0)

static void fetch(const char* path, void* dst, size_t bytes) {
  FILE* f = fopen(path, "rb");
  if (!f || fread(dst, 1, bytes, f) != bytes) {
    fprintf(stderr, "cannot read %s\n", path);
    exit(1);
  }
  fclose(f);
}

static void dump(const char* path, const void* src, size_t bytes) {
  FILE* f = fopen(path, "wb");
  if (!f || fwrite(src, 1, bytes, f) != bytes) {
    fprintf(stderr, "cannot write %s\n", path);
    exit(1);
  }
  fclose(f);
}

#define ROWS 120
#define WIDTH 40
#define BLOCK 128

// Distances are not negative, so their bits order like numbers: one 64-bit minimum decides distance and pair.
__global__ void closest_pair_keys(const float* __restrict__ x, float* gap, int* first, int* second) {
  __shared__ float row[WIDTH];
  __shared__ unsigned long long smallest;
  for (int i = threadIdx.x; i < WIDTH; i += BLOCK) row[i] = x[(size_t)blockIdx.x * WIDTH + i];
  if (threadIdx.x == 0) smallest = ~0ull;
  __syncthreads();
  unsigned long long key = ~0ull;
  for (int k = threadIdx.x; k < WIDTH * WIDTH; k += BLOCK) {
    int i = k / WIDTH, j = k % WIDTH;
    if (i >= j) continue;
    unsigned int bits = __float_as_uint(fabsf(row[i] - row[j]));
    unsigned long long candidate = ((unsigned long long)bits << 32) | (unsigned int)k;
    if (candidate < key) key = candidate;
  }
  for (int s = 16; s > 0; s >>= 1) {
    unsigned long long other = __shfl_down_sync(0xffffffffu, key, s);
    if (other < key) key = other;
  }
  if (threadIdx.x % 32 == 0) atomicMin(&smallest, key);
  __syncthreads();
  if (threadIdx.x == 0) {
    int k = (int)(smallest & 0xffffffffu);
    gap[blockIdx.x] = __uint_as_float((unsigned int)(smallest >> 32));
    first[blockIdx.x] = k / WIDTH;
    second[blockIdx.x] = k % WIDTH;
  }
}

int main() {
  const int size = ROWS * WIDTH;
  float* h_x = (float*)malloc(size * sizeof(float));
  float* h_gap = (float*)malloc(ROWS * sizeof(float));
  int* h_first = (int*)malloc(ROWS * sizeof(int));
  int* h_second = (int*)malloc(ROWS * sizeof(int));
  fetch("data/x.bin", h_x, size * sizeof(float));

  float* dev_x;
  float* dev_gap;
  int* dev_first;
  int* dev_second;
  CK(cudaMalloc(&dev_x, size * sizeof(float)));
  CK(cudaMalloc(&dev_gap, ROWS * sizeof(float)));
  CK(cudaMalloc(&dev_first, ROWS * sizeof(int)));
  CK(cudaMalloc(&dev_second, ROWS * sizeof(int)));
  CK(cudaMemcpy(dev_x, h_x, size * sizeof(float), cudaMemcpyHostToDevice));

  closest_pair_keys<<<ROWS, BLOCK>>>(dev_x, dev_gap, dev_first, dev_second);
  CK(cudaGetLastError());
  CK(cudaMemcpy(h_gap, dev_gap, ROWS * sizeof(float), cudaMemcpyDeviceToHost));
  CK(cudaMemcpy(h_first, dev_first, ROWS * sizeof(int), cudaMemcpyDeviceToHost));
  CK(cudaMemcpy(h_second, dev_second, ROWS * sizeof(int), cudaMemcpyDeviceToHost));

  dump("data/gap.bin", h_gap, ROWS * sizeof(float));
  dump("data/first.bin", h_first, ROWS * sizeof(int));
  dump("data/second.bin", h_second, ROWS * sizeof(int));

  cudaFree(dev_x);
  cudaFree(dev_gap);
  cudaFree(dev_first);
  cudaFree(dev_second);
  free(h_x);
  free(h_gap);
  free(h_first);
  free(h_second);
  return 0;
}
