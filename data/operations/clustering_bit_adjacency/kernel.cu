#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

const int VERTICES = 130;
const int WORDS = (VERTICES + 31) / 32;
const int BLOCK = 128;

#define gpuErrchk(call) \
  do { \
    cudaError_t e = (call); \
    if (e != cudaSuccess) { \
      fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(e)); \
      exit(1); \
    } \
  } while (0)

static void load_bin(const char* path, void* dst, size_t bytes) {
  FILE* f = fopen(path, "rb");
  if (!f || fread(dst, 1, bytes, f) != bytes) {
    fprintf(stderr, "error reading %s\n", path);
    exit(1);
  }
  fclose(f);
}

static void save_bin(const char* path, const void* src, size_t bytes) {
  FILE* f = fopen(path, "wb");
  if (!f || fwrite(src, 1, bytes, f) != bytes) {
    fprintf(stderr, "cannot write %s\n", path);
    exit(1);
  }
  fclose(f);
}

// One block a vertex: its row lies in shared memory, each thread visits some of the possible neighbours.
__global__ void local_clustering(const unsigned int* __restrict__ bits, int* links, float* coefficient) {
  __shared__ unsigned int row[WORDS];
  __shared__ int degree, twice;
  const int v = blockIdx.x;
  if (threadIdx.x == 0) {
    degree = 0;
    twice = 0;
  }
  for (int w = threadIdx.x; w < WORDS; w += BLOCK) row[w] = bits[v * WORDS + w];
  __syncthreads();
  int d = 0, t = 0;
  for (int u = threadIdx.x; u < VERTICES; u += BLOCK) {
    if (row[u >> 5] >> (u & 31) & 1u) {
      ++d;
      for (int w = 0; w < WORDS; ++w) t += __popc(row[w] & bits[u * WORDS + w]);
    }
  }
  atomicAdd(&degree, d);
  atomicAdd(&twice, t);
  __syncthreads();
  if (threadIdx.x == 0) {
    links[v] = twice / 2;
    coefficient[v] = degree > 1 ? twice / ((float)degree * (float)(degree - 1)) : 0.0f;
  }
}

int main() {
  unsigned int* bits_h = (unsigned int*)malloc(VERTICES * WORDS * sizeof(unsigned int));
  int* links_h = (int*)malloc(VERTICES * sizeof(int));
  float* coefficient_h = (float*)malloc(VERTICES * sizeof(float));
  load_bin("data/bits.bin", bits_h, VERTICES * WORDS * sizeof(unsigned int));

  unsigned int *bits_d;
  int *links_d;
  float *coefficient_d;
  gpuErrchk(cudaMalloc(&bits_d, VERTICES * WORDS * sizeof(unsigned int)));
  gpuErrchk(cudaMalloc(&links_d, VERTICES * sizeof(int)));
  gpuErrchk(cudaMalloc(&coefficient_d, VERTICES * sizeof(float)));
  gpuErrchk(cudaMemcpy(bits_d, bits_h, VERTICES * WORDS * sizeof(unsigned int), cudaMemcpyHostToDevice));

  local_clustering<<<VERTICES, BLOCK>>>(bits_d, links_d, coefficient_d);
  gpuErrchk(cudaGetLastError());
  gpuErrchk(cudaMemcpy(links_h, links_d, VERTICES * sizeof(int), cudaMemcpyDeviceToHost));
  gpuErrchk(cudaMemcpy(coefficient_h, coefficient_d, VERTICES * sizeof(float), cudaMemcpyDeviceToHost));

  save_bin("data/links.bin", links_h, VERTICES * sizeof(int));
  save_bin("data/coefficient.bin", coefficient_h, VERTICES * sizeof(float));

  cudaFree(bits_d);
  cudaFree(links_d);
  cudaFree(coefficient_d);
  free(bits_h);
  free(links_h);
  free(coefficient_h);
  return 0;
}
