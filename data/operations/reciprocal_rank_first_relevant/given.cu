const int QUERIES = 200;
const int ITEMS = 90;

__global__ void reciprocal_ranks(const float* scores, const unsigned char* relevant, float* reciprocal, int items) {
  __shared__ float best[256];
  __shared__ int ahead;
  int t = threadIdx.x;
  size_t base = (size_t)blockIdx.x * items;
  float m = -FLT_MAX;
  for (int i = t; i < items; i += 256) {
    if (relevant[base + i]) m = fmaxf(m, scores[base + i]);
  }
  best[t] = m;
  if (t == 0) ahead = 0;
  __syncthreads();
  for (int s = 128; s > 0; s /= 2) {
    if (t < s) best[t] = fmaxf(best[t], best[t + s]);
    __syncthreads();
  }
  m = best[0];
  int count = 0;
  for (int i = t; i < items; i += 256) {
    if (!relevant[base + i] && scores[base + i] >= m) ++count;
  }
  atomicAdd(&ahead, count);
  __syncthreads();
  if (t == 0) reciprocal[blockIdx.x] = m == -FLT_MAX ? 0.0f : 1.0f / (1 + ahead);
}

__global__ void average(const float* reciprocal, float* mean, int queries) {
  __shared__ float sums[256];
  int t = threadIdx.x;
  float sum = 0.0f;
  for (int q = t; q < queries; q += 256) sum += reciprocal[q];
  sums[t] = sum;
  __syncthreads();
  for (int s = 128; s > 0; s /= 2) {
    if (t < s) sums[t] += sums[t + s];
    __syncthreads();
  }
  if (t == 0) mean[0] = sums[0] / queries;
}

int main() {
  const size_t elements = QUERIES * ITEMS;
  const size_t relevant_floats = (elements + 3) / 4;
  std::vector<float> h_scores(elements);
  std::vector<unsigned char> h_relevant(4 * relevant_floats);
  std::vector<float> h_reciprocal(QUERIES);
  std::vector<float> h_mean(1);

  read_binary("data/scores.bin", h_scores.data(), elements);
  read_binary("data/relevant.bin", reinterpret_cast<float*>(h_relevant.data()), relevant_floats);

  float *d_scores, *d_reciprocal, *d_mean;
  unsigned char *d_relevant;
  cudaMalloc(&d_scores, elements * sizeof(float));
  cudaMalloc(&d_relevant, elements * sizeof(unsigned char));
  cudaMalloc(&d_reciprocal, sizeof(float) * QUERIES);
  cudaMalloc(&d_mean, sizeof(float));
  cudaMemcpy(d_scores, h_scores.data(), elements * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemcpy(d_relevant, h_relevant.data(), elements * sizeof(unsigned char), cudaMemcpyHostToDevice);

  reciprocal_ranks<<<QUERIES, 256>>>(d_scores, d_relevant, d_reciprocal, ITEMS);
  average<<<1, 256>>>(d_reciprocal, d_mean, QUERIES);
  cudaDeviceSynchronize();

  cudaMemcpy(h_reciprocal.data(), d_reciprocal, sizeof(float) * QUERIES, cudaMemcpyDeviceToHost);
  write_binary("data/reciprocal.bin", h_reciprocal.data(), QUERIES);
  cudaMemcpy(h_mean.data(), d_mean, sizeof(float), cudaMemcpyDeviceToHost);
  write_binary("data/mean.bin", h_mean.data(), 1);

  cudaFree(d_scores);
  cudaFree(d_relevant);
  cudaFree(d_reciprocal);
  cudaFree(d_mean);
  return 0;
}
