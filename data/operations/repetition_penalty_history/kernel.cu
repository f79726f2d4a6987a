#include <cstdio>
#include <cstdlib>
#include <string>
#include <cuda_runtime.h>

template <typename T>
void read_from(const std::string& path, T* data, size_t count) {
  FILE* f = fopen(path.c_str(), "rb");
  if (!f || fread(data, sizeof(T), count, f) != count) {
    fprintf(stderr, "error reading %s\n", path.c_str());
    exit(1);
  }
  fclose(f);
}

template <typename T>
void write_to(const std::string& path, const T* data, size_t count) {
  FILE* f = fopen(path.c_str(), "wb");
  if (!f || fwrite(data, sizeof(T), count, f) != count) {
    fprintf(stderr, "cannot write %s\n", path.c_str());
    exit(1);
  }
  fclose(f);
}
//@given

constexpr int BATCH = 8;
constexpr int VOCAB = 1000;
constexpr int HISTORY = 40;
const int WORDS = (VOCAB + 31) / 32;
const int THREADS = 256;

// One block per row with a bitmap of the vocabulary in shared memory; atomicOr tells who was first to set a bit.
__global__ void penalize_row(const float* __restrict__ logits, const int* __restrict__ tokens,
                             float* __restrict__ penalized, int* __restrict__ distinct) {
  __shared__ unsigned int bits[WORDS];
  __shared__ int count;
  const int b = blockIdx.x;
  for (int w = threadIdx.x; w < WORDS; w += THREADS) bits[w] = 0u;
  if (threadIdx.x == 0) count = 0;
  __syncthreads();
  int mine = 0;
  for (int h = threadIdx.x; h < HISTORY; h += THREADS) {
    const int id = tokens[b * HISTORY + h];
    if (id < 0) continue;
    const unsigned int bit = 1u << (id % 32);
    if ((atomicOr(&bits[id / 32], bit) & bit) == 0) ++mine;
  }
  if (mine > 0) atomicAdd(&count, mine);
  __syncthreads();
  const size_t row = (size_t)b * VOCAB;
  for (int v = threadIdx.x; v < VOCAB; v += THREADS) {
    const float x = logits[row + v];
    const bool seen = (bits[v / 32] >> (v % 32)) & 1u;
    penalized[row + v] = seen ? (x > 0.0f ? x * 0.8f : x * 1.25f) : x;
  }
  if (threadIdx.x == 0) distinct[b] = count;
}

int main() {
  float* h_logits = new float[BATCH * VOCAB];
  int* h_tokens = new int[BATCH * HISTORY];
  float* h_penalized = new float[BATCH * VOCAB];
  int* h_distinct = new int[BATCH];
  read_from("data/logits.bin", h_logits, BATCH * VOCAB);
  read_from("data/tokens.bin", h_tokens, BATCH * HISTORY);

  float* d_logits = nullptr;
  int* d_tokens = nullptr;
  float* d_penalized = nullptr;
  int* d_distinct = nullptr;
  cudaMalloc((void**)&d_logits, BATCH * VOCAB * sizeof(float));
  cudaMalloc(&d_tokens, BATCH * HISTORY * sizeof(int));
  cudaMalloc(&d_penalized, BATCH * VOCAB * sizeof(float));
  cudaMalloc(&d_distinct, BATCH * sizeof(int));
  cudaMemcpy(d_logits, h_logits, BATCH * VOCAB * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemcpy(d_tokens, h_tokens, BATCH * HISTORY * sizeof(int), cudaMemcpyHostToDevice);

  penalize_row<<<BATCH, THREADS>>>(d_logits, d_tokens, d_penalized, d_distinct);

  cudaMemcpy(h_penalized, d_penalized, BATCH * VOCAB * sizeof(float), cudaMemcpyDeviceToHost);
  cudaMemcpy(h_distinct, d_distinct, BATCH * sizeof(int), cudaMemcpyDeviceToHost);
  write_to("data/penalized.bin", h_penalized, BATCH * VOCAB);
  write_to("data/distinct.bin", h_distinct, BATCH);

  cudaFree(d_logits);
  cudaFree(d_tokens);
  cudaFree(d_penalized);
  cudaFree(d_distinct);
  delete[] h_logits;
  delete[] h_tokens;
  delete[] h_penalized;
  delete[] h_distinct;
  return 0;
}
