#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>
#include <cuda_runtime.h>

void read_floats(const std::string& filename, int* buffer, size_t size) {
  std::ifstream in(filename, std::ios::binary);
  in.read(reinterpret_cast<char*>(buffer), size * sizeof(int));
  if (!in) {
    std::cerr << "failed to read " << filename << std::endl;
    exit(1);
  }
}

void write_floats(const std::string& filename, const int* buffer, size_t size) {
  std::ofstream file(filename, std::ios::binary);
  file.write(reinterpret_cast<const char*>(buffer), size * sizeof(int));
}
//@given

#define BATCH 50
#define LENGTH 200
#define VOCAB 40

__global__ void count_bigrams(const int* tokens, int* counts, int* totals) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= BATCH * (LENGTH - 1)) return;
  int b = i / (LENGTH - 1);
  int t = i % (LENGTH - 1);
  int u = tokens[b * LENGTH + t];
  int v = tokens[b * LENGTH + t + 1];
  if (u < 0 || v < 0) return;
  atomicAdd(&counts[u * VOCAB + v], 1);
  atomicAdd(&totals[b], 1);
}

int main() {
  const int tokens_count = BATCH * LENGTH;
  const int counts_count = VOCAB * VOCAB;
  int* h_tokens = new int[tokens_count];
  int* h_counts = new int[counts_count];
  int* h_totals = new int[BATCH];
  read_floats("data/tokens.bin", h_tokens, tokens_count);

  int *d_tokens, *d_counts, *d_totals;
  cudaMalloc((void**)&d_tokens, tokens_count * sizeof(int));
  cudaMalloc((void**)&d_counts, counts_count * sizeof(int));
  cudaMalloc((void**)&d_totals, BATCH * sizeof(int));
  cudaMemcpy(d_tokens, h_tokens, tokens_count * sizeof(int), cudaMemcpyHostToDevice);
  cudaMemset(d_counts, 0, counts_count * sizeof(int));
  cudaMemset(d_totals, 0, BATCH * sizeof(int));

  count_bigrams<<<(BATCH * (LENGTH - 1) + 256 - 1) / 256, 256>>>(d_tokens, d_counts, d_totals);
  cudaDeviceSynchronize();

  cudaMemcpy(h_counts, d_counts, counts_count * sizeof(int), cudaMemcpyDeviceToHost);
  cudaMemcpy(h_totals, d_totals, BATCH * sizeof(int), cudaMemcpyDeviceToHost);
  write_floats("data/counts.bin", h_counts, counts_count);
  write_floats("data/totals.bin", h_totals, BATCH);

  cudaFree(d_tokens);
  cudaFree(d_counts);
  cudaFree(d_totals);
  delete[] h_tokens;
  delete[] h_counts;
  delete[] h_totals;
  return 0;
}
