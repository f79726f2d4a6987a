constexpr int kBatch = 8;
constexpr int kVocab = 1000;
constexpr int kHistory = 40;

__global__ void mark_tokens(const int* tokens, unsigned char* seen, int batch, int history, int vocab) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= batch * history) return;
  int id = tokens[i];
  if (id >= 0) seen[(i / history) * vocab + id] = 1;
}

__global__ void penalize(const float* logits, const unsigned char* seen, float* penalized,
                         int* distinct, int batch, int vocab) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= batch * vocab) return;
  float v = logits[i];
  if (seen[i]) {
    v = v > 0.0f ? v / 1.25f : v * 1.25f;
    atomicAdd(&distinct[i / vocab], 1);
  }
  penalized[i] = v;
}

int main() {
  const int count = kBatch * kVocab;
  const int tokens_size = kBatch * kHistory;
  const size_t size_bytes = count * sizeof(float);

  float* h_logits = new float[count];
  int* h_tokens = new int[tokens_size];
  float* h_penalized = new float[count];
  int* h_distinct = new int[kBatch];
  read_binary("data/logits.bin", h_logits, count);
  read_binary("data/tokens.bin", reinterpret_cast<float*>(h_tokens), tokens_size);

  float* d_logits = nullptr;
  cudaMalloc(&d_logits, size_bytes);
  cudaMemcpy(d_logits, h_logits, size_bytes, cudaMemcpyHostToDevice);
  int* d_tokens = nullptr;
  cudaMalloc(&d_tokens, tokens_size * sizeof(int));
  cudaMemcpy(d_tokens, h_tokens, tokens_size * sizeof(int), cudaMemcpyHostToDevice);
  float* d_penalized = nullptr;
  cudaMalloc(&d_penalized, size_bytes);
  int* d_distinct = nullptr;
  cudaMalloc(&d_distinct, kBatch * sizeof(int));
  unsigned char* d_seen = nullptr;
  cudaMalloc(&d_seen, count * sizeof(unsigned char));

  cudaMemset(d_seen, 0, count);
  cudaMemset(d_distinct, 0, kBatch * sizeof(int));
  const int threads = 256;
  mark_tokens<<<(tokens_size + threads - 1) / threads, threads>>>(d_tokens, d_seen, kBatch, kHistory, kVocab);
  penalize<<<(count + threads - 1) / threads, threads>>>(d_logits, d_seen, d_penalized, d_distinct, kBatch,
      kVocab);
  cudaError_t err = cudaGetLastError();
  if (err != cudaSuccess) {
    std::cerr << "repetition kernel: " << cudaGetErrorString(err) << "\n";
    return 1;
  }

  cudaMemcpy(h_penalized, d_penalized, size_bytes, cudaMemcpyDeviceToHost);
  write_binary("data/penalized.bin", h_penalized, count);
  cudaMemcpy(h_distinct, d_distinct, kBatch * sizeof(int), cudaMemcpyDeviceToHost);
  write_binary("data/distinct.bin", reinterpret_cast<const float*>(h_distinct), kBatch);

  delete[] h_logits;
  delete[] h_tokens;
  delete[] h_penalized;
  delete[] h_distinct;
  cudaFree(d_logits);
  cudaFree(d_tokens);
  cudaFree(d_penalized);
  cudaFree(d_distinct);
  cudaFree(d_seen);
  return 0;
}
