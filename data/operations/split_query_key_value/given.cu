constexpr int kBatch = 2;
constexpr int kTokens = 20;
constexpr int kHeads = 4;
constexpr int kHeadDim = 24;
constexpr int kTotal = kBatch * kHeads * kTokens * kHeadDim;

__global__ void split_heads(const float* fused, const float* bias, float* query, float* key, float* value) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= kTotal) return;
  int d = i % kHeadDim;
  int t = i / kHeadDim % kTokens;
  int h = i / (kHeadDim * kTokens) % kHeads;
  int b = i / (kHeadDim * kTokens * kHeads);
  int part = kHeads * kHeadDim;
  int inner = h * kHeadDim + d;
  const float* src = fused + (size_t)(b * kTokens + t) * 3 * part + inner;
  query[i] = (src[0] + bias[inner]) / sqrtf((float)kHeadDim);
  key[i] = src[part] + bias[part + inner];
  value[i] = src[2 * part] + bias[2 * part + inner];
}

int main() {
  const int fused_total = kBatch * kTokens * 3 * kHeads * kHeadDim;
  const size_t bias_count = 3 * kHeads * kHeadDim;

  float* h_fused = new float[fused_total];
  float* h_bias = new float[bias_count];
  float* h_query = new float[kTotal];
  float* h_key = new float[kTotal];
  float* h_value = new float[kTotal];
  read_binary("data/fused.bin", h_fused, fused_total);
  read_binary("data/bias.bin", h_bias, bias_count);

  float* d_fused;
  float* d_bias;
  float* d_query;
  float* d_key;
  float* d_value;
  cudaMalloc(&d_fused, fused_total * sizeof(float));
  cudaMalloc(&d_bias, bias_count * sizeof(float));
  cudaMalloc(&d_query, sizeof(float) * kTotal);
  cudaMalloc(&d_key, sizeof(float) * kTotal);
  cudaMalloc(&d_value, sizeof(float) * kTotal);

  cudaMemcpy(d_fused, h_fused, fused_total * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemcpy(d_bias, h_bias, bias_count * sizeof(float), cudaMemcpyHostToDevice);

  int threads = 256;
  int blocks = (kTotal + threads - 1) / threads;
  split_heads<<<blocks, threads>>>(d_fused, d_bias, d_query, d_key, d_value);
  cudaError_t err = cudaGetLastError();
  if (err != cudaSuccess) {
    std::cerr << "CUDA failure: " << cudaGetErrorString(err) << std::endl;
    return 1;
  }

  cudaMemcpy(h_query, d_query, sizeof(float) * kTotal, cudaMemcpyDeviceToHost);
  cudaMemcpy(h_key, d_key, sizeof(float) * kTotal, cudaMemcpyDeviceToHost);
  cudaMemcpy(h_value, d_value, sizeof(float) * kTotal, cudaMemcpyDeviceToHost);
  write_binary("data/query.bin", h_query, kTotal);
  write_binary("data/key.bin", h_key, kTotal);
  write_binary("data/value.bin", h_value, kTotal);

  cudaFree(d_fused);
  cudaFree(d_bias);
  cudaFree(d_query);
  cudaFree(d_key);
  cudaFree(d_value);
  delete[] h_fused;
  delete[] h_bias;
  delete[] h_query;
  delete[] h_key;
  delete[] h_value;
  return 0;
}
