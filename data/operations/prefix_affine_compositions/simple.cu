#include <cstdio>
#include <vector>
#include <cuda_runtime.h>

#define ROWS 40
#define COLS 300

__global__ void compose(const unsigned int* a, const unsigned int* b, unsigned int* pa, unsigned int* pb) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= ROWS) return;
  size_t base = (size_t)r * COLS;
  unsigned int factor = 1u, shift = 0u;
  for (int c = 0; c < COLS; ++c) {
    unsigned int m = a[base + c];
    factor = m * factor;
    shift = m * shift + b[base + c];
    pa[base + c] = factor;
    pb[base + c] = shift;
  }
}

int main() {
  const size_t n = (size_t)ROWS * COLS;
  std::vector<unsigned int> h_a(n), h_b(n), h_pa(n), h_pb(n);
  FILE* f0 = fopen("data/a.bin", "rb");
  if (!f0 || fread(h_a.data(), sizeof(unsigned int), n, f0) != n) return 1;
  fclose(f0);
  FILE* f1 = fopen("data/b.bin", "rb");
  if (!f1 || fread(h_b.data(), sizeof(unsigned int), n, f1) != n) return 1;
  fclose(f1);
  unsigned int *dev_a, *dev_b, *dev_pa, *dev_pb;
  cudaMalloc(&dev_a, n * sizeof(unsigned int));
  cudaMalloc(&dev_b, n * sizeof(unsigned int));
  cudaMalloc(&dev_pa, n * sizeof(unsigned int));
  cudaMalloc(&dev_pb, n * sizeof(unsigned int));
  cudaMemcpy(dev_a, h_a.data(), n * sizeof(unsigned int), cudaMemcpyHostToDevice);
  cudaMemcpy(dev_b, h_b.data(), n * sizeof(unsigned int), cudaMemcpyHostToDevice);
  compose<<<(ROWS + 64 - 1) / 64, 64>>>(dev_a, dev_b, dev_pa, dev_pb);
  cudaMemcpy(h_pa.data(), dev_pa, n * sizeof(unsigned int), cudaMemcpyDeviceToHost);
  cudaMemcpy(h_pb.data(), dev_pb, n * sizeof(unsigned int), cudaMemcpyDeviceToHost);
  FILE* g0 = fopen("data/pa.bin", "wb");
  fwrite(h_pa.data(), sizeof(unsigned int), n, g0);
  fclose(g0);
  FILE* g1 = fopen("data/pb.bin", "wb");
  fwrite(h_pb.data(), sizeof(unsigned int), n, g1);
  fclose(g1);
  cudaFree(dev_a); cudaFree(dev_b); cudaFree(dev_pa); cudaFree(dev_pb);
  return 0;
}
