#include <fstream>
#include <iostream>
#include <vector>
#include <cuda_runtime.h>

constexpr int kBatch = 8;
constexpr int kVocab = 1000;
constexpr int kHistory = 40;

__global__ void mark_tokens(const int* tokens, unsigned char* seen) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= kBatch * kHistory) return;
  int id = tokens[i];
  if (id >= 0) seen[(i / kHistory) * kVocab + id] = 1;
}

__global__ void penalize(const float* logits, const unsigned char* seen, float* penalized, int* distinct) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= kBatch * kVocab) return;
  float v = logits[i];
  if (seen[i]) {
    v = v > 0.0f ? v / 1.25f : v * 1.25f;
    atomicAdd(&distinct[i / kVocab], 1);
  }
  penalized[i] = v;
}

void launch(const float* d_logits, const int* d_tokens,
      float* d_penalized, int* d_distinct, unsigned char* d_seen) {
  cudaMemset(d_seen, 0, kBatch * kVocab);
  cudaMemset(d_distinct, 0, kBatch * sizeof(int));
  mark_tokens<<<(kBatch * kHistory + 255) / 256, 256>>>(d_tokens, d_seen);
  penalize<<<(kBatch * kVocab + 255) / 256, 256>>>(d_logits, d_seen, d_penalized, d_distinct);
}

int main() {
  std::vector<float> host_logits(kBatch * kVocab);
  std::vector<int> host_tokens(kBatch * kHistory);
  std::vector<float> host_penalized(kBatch * kVocab);
  std::vector<int> host_distinct(kBatch);
  std::ifstream file_logits("data/logits.bin", std::ios::binary);
  file_logits.read(reinterpret_cast<char*>(host_logits.data()), kBatch * kVocab * sizeof(float));
  if (!file_logits) { std::cerr << "error reading data/logits.bin\n"; return 1; }
  std::ifstream file_tokens("data/tokens.bin", std::ios::binary);
  file_tokens.read(reinterpret_cast<char*>(host_tokens.data()), kBatch * kHistory * sizeof(int));
  if (!file_tokens) { std::cerr << "error reading data/tokens.bin\n"; return 1; }

  float* d_logits = nullptr;
  cudaMalloc(&d_logits, kBatch * kVocab * sizeof(float));
  int* d_tokens = nullptr;
  cudaMalloc(&d_tokens, kBatch * kHistory * sizeof(int));
  float* d_penalized = nullptr;
  cudaMalloc(&d_penalized, kBatch * kVocab * sizeof(float));
  int* d_distinct = nullptr;
  cudaMalloc(&d_distinct, kBatch * sizeof(int));
  unsigned char* d_seen = nullptr;
  cudaMalloc(&d_seen, kBatch * kVocab * sizeof(unsigned char));
  cudaMemcpy(d_logits, host_logits.data(), kBatch * kVocab * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemcpy(d_tokens, host_tokens.data(), kBatch * kHistory * sizeof(int), cudaMemcpyHostToDevice);

  launch(d_logits, d_tokens, d_penalized, d_distinct, d_seen);
  if (cudaDeviceSynchronize() != cudaSuccess) {
    std::cerr << "kernel failed\n";
    return 1;
  }

  cudaMemcpy(host_penalized.data(), d_penalized, kBatch * kVocab * sizeof(float), cudaMemcpyDeviceToHost);
  cudaMemcpy(host_distinct.data(), d_distinct, kBatch * sizeof(int), cudaMemcpyDeviceToHost);
  std::ofstream out_penalized("data/penalized.bin", std::ios::binary);
  out_penalized.write(reinterpret_cast<char*>(host_penalized.data()), kBatch * kVocab * sizeof(float));
  std::ofstream out_distinct("data/distinct.bin", std::ios::binary);
  out_distinct.write(reinterpret_cast<char*>(host_distinct.data()), kBatch * sizeof(int));
  cudaFree(d_logits);
  cudaFree(d_tokens);
  cudaFree(d_penalized);
  cudaFree(d_distinct);
  cudaFree(d_seen);
  return 0;
}
