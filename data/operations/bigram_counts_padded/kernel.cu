#include <fstream>
#include <vector>
#include <cuda_runtime.h>

constexpr int BATCH = 50;
constexpr int LENGTH = 200;
constexpr int VOCAB = 40;

// One block a sequence: its total is counted with barriers, only the pair counts need global atomics.
__global__ void count_bigrams(const int* __restrict__ tokens, int* counts, int* totals) {
  const int* seq = tokens + (size_t)blockIdx.x * LENGTH;
  int total = 0;
  for (int start = 0; start < LENGTH - 1; start += blockDim.x) {
    const int t = start + threadIdx.x;
    bool pair = false;
    if (t < LENGTH - 1) {
      const int u = seq[t], v = seq[t + 1];
      pair = u >= 0 && v >= 0;
      if (pair) atomicAdd(&counts[u * VOCAB + v], 1);
    }
    total += __syncthreads_count(pair);
  }
  if (threadIdx.x == 0) totals[blockIdx.x] = total;
}

int main() {
  const size_t num_tokens = (size_t)BATCH * LENGTH;
  const size_t num_counts = VOCAB * VOCAB;
  std::vector<int> host_tokens(num_tokens), host_counts(num_counts), host_totals(BATCH);
  std::ifstream file_tokens("data/tokens.bin", std::ios::binary);
  if (!file_tokens.read((char*)host_tokens.data(), num_tokens * sizeof(int))) return 1;
  int *d_tokens, *d_counts, *d_totals;
  cudaMalloc(&d_tokens, num_tokens * sizeof(int));
  cudaMalloc(&d_counts, num_counts * sizeof(int));
  cudaMalloc(&d_totals, BATCH * sizeof(int));
  cudaMemcpy(d_tokens, host_tokens.data(), num_tokens * sizeof(int), cudaMemcpyHostToDevice);
  cudaMemset(d_counts, 0, num_counts * sizeof(int));
  count_bigrams<<<BATCH, 128>>>(d_tokens, d_counts, d_totals);
  cudaMemcpy(host_counts.data(), d_counts, num_counts * sizeof(int), cudaMemcpyDeviceToHost);
  cudaMemcpy(host_totals.data(), d_totals, BATCH * sizeof(int), cudaMemcpyDeviceToHost);
  std::ofstream("data/counts.bin", std::ios::binary).write((char*)host_counts.data(), num_counts * sizeof(int));
  std::ofstream("data/totals.bin", std::ios::binary).write((char*)host_totals.data(), BATCH * sizeof(int));
  cudaFree(d_tokens);
  cudaFree(d_counts);
  cudaFree(d_totals);
  return 0;
}
