#include <cstdio>
#include <cuda_runtime.h>

constexpr int kNodes = 500;
constexpr int kDegree = 8;

__global__ void edgeJaccard(const int* table, float* jaccard, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const int* mine = table + i / kDegree * kDegree;
  const int* other = table + table[i] * kDegree;
  int a = 0, b = 0, both = 0;
  while (a < kDegree && b < kDegree) {
    int x = mine[a], y = other[b];
    both += x == y;
    a += x <= y;
    b += y <= x;
  }
  jaccard[i] = (float)both / (2 * kDegree - both);
}

int main() {
  int* table = nullptr;
  float* jaccard = nullptr;
  cudaMallocManaged(&table, kNodes * kDegree * sizeof(int));
  cudaMallocManaged(&jaccard, kNodes * kDegree * sizeof(float));

  FILE* in = fopen("data/table.bin", "rb");
  if (!in || fread(table, sizeof(int), kNodes * kDegree, in) != kNodes * kDegree) {
    fprintf(stderr, "cannot read data/table.bin\n");
    return 1;
  }
  fclose(in);

  int n = kNodes * kDegree;
  edgeJaccard<<<(n + 255) / 256, 256>>>(table, jaccard, n);
  cudaError_t err = cudaDeviceSynchronize();
  if (err != cudaSuccess) {
    fprintf(stderr, "%s\n", cudaGetErrorString(err));
    return 1;
  }

  FILE* out = fopen("data/jaccard.bin", "wb");
  fwrite(jaccard, sizeof(float), kNodes * kDegree, out);
  fclose(out);

  cudaFree(table);
  cudaFree(jaccard);
  return 0;
}
