#include <cuda_runtime.h>
#include <cstdio>
#include <cstdlib>
#include <vector>

bool readBinary(const char* path, void* data, size_t bytes) {
  FILE* f = fopen(path, "rb");
  if (!f) return false;
  bool ok = fread(data, 1, bytes, f) == bytes;
  fclose(f);
  return ok;
}

bool writeBinary(const char* path, const void* data, size_t bytes) {
  FILE* f = fopen(path, "wb");
  if (!f) return false;
  bool ok = fwrite(data, 1, bytes, f) == bytes;
  fclose(f);
  return ok;
}

static void check_cuda(cudaError_t err, const char* what) {
  if (err != cudaSuccess) {
    fprintf(stderr, "CUDA error in %s: %s\n", what, cudaGetErrorString(err));
    exit(1);
  }
}

#define N 20000

__global__ void reverse_and_count_fast(const unsigned int *__restrict__ word, unsigned int *__restrict__ reversed,
                                       unsigned char* __restrict__ ones, int n) {
  const int stride = gridDim.x * blockDim.x;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride) {
    const unsigned int w = word[i];
    reversed[i] = __brev(w);
    // dividing by the lowest one bit leaves 1 or 3 for compact words
    const unsigned int top = w >> (w ? __ffs(w) - 1 : 0);
    ones[i] = __popc(w) + (top == 1u || top == 3u ? 128 : 0);
  }
}

int main(void) {
  std::vector<unsigned int> h_word(N);
  std::vector<unsigned int> h_reversed(N);
  std::vector<unsigned char> h_ones(N);
  if (!readBinary("data/word.bin", h_word.data(), N * sizeof(unsigned int))) {
    fprintf(stderr, "cannot read data/word.bin\n");
    return 1;
  }

  unsigned int *d_word, *d_reversed;
  unsigned char* d_ones;
  check_cuda(cudaMalloc(&d_word, N * sizeof(unsigned int)), "cudaMalloc word");
  check_cuda(cudaMalloc(&d_reversed, N * sizeof(unsigned int)), "cudaMalloc reversed");
  check_cuda(cudaMalloc(&d_ones, N * sizeof(unsigned char)), "cudaMalloc ones");
  check_cuda(cudaMemcpy(d_word, h_word.data(), N * sizeof(unsigned int), cudaMemcpyHostToDevice), "copy word");

  reverse_and_count_fast<<<2048, 256>>>(d_word, d_reversed, d_ones, N);
  check_cuda(cudaGetLastError(), "kernel launch");
  check_cuda(cudaMemcpy(h_reversed.data(), d_reversed, N * sizeof(unsigned int), cudaMemcpyDeviceToHost), "download");
  check_cuda(cudaMemcpy(h_ones.data(), d_ones, N * sizeof(unsigned char), cudaMemcpyDeviceToHost), "copy back");

  if (!writeBinary("data/reversed.bin", h_reversed.data(), N * sizeof(unsigned int))) {
    fprintf(stderr, "cannot write data/reversed.bin\n");
    return 1;
  }
  if (!writeBinary("data/ones.bin", h_ones.data(), N * sizeof(unsigned char))) {
    fprintf(stderr, "cannot write data/ones.bin\n");
    return 1;
  }
  cudaFree(d_ones);
  cudaFree(d_reversed);
  cudaFree(d_word);
  return 0;
}
