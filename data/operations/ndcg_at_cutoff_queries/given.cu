const int QUERIES = 80;
const int DOCS = 60;

__global__ void ndcg_kernel(const float* scores, const int* grades, const int* cutoff, float* ndcg, int docs) {
  __shared__ float found[128];
  __shared__ float ideal[128];
  int tid = threadIdx.x;
  int q = blockIdx.x;
  const float* s = scores + q * docs;
  const int* g = grades + q * docs;
  float dcg = 0.0f;
  float best_dcg = 0.0f;
  for (int i = tid; i < docs; i += blockDim.x) {
    int position = 0;
    int best_position = 0;
    for (int j = 0; j < docs; ++j) {
      if (s[j] > s[i] || (s[j] == s[i] && j < i)) ++position;
      if (g[j] > g[i] || (g[j] == g[i] && j < i)) ++best_position;
    }
    float gain = (float)((1 << g[i]) - 1);
    if (position < cutoff[q]) dcg += gain / log2f((float)position + 2.0f);
    if (best_position < cutoff[q]) best_dcg += gain / log2f((float)best_position + 2.0f);
  }
  found[tid] = dcg;
  ideal[tid] = best_dcg;
  __syncthreads();
  for (int stride = blockDim.x / 2; stride > 0; stride /= 2) {
    if (tid < stride) {
      found[tid] += found[tid + stride];
      ideal[tid] += ideal[tid + stride];
    }
    __syncthreads();
  }
  if (tid == 0) ndcg[q] = ideal[0] > 0.0f ? found[0] / ideal[0] : 0.0f;
}

int main() {
  float* h_scores = new float[QUERIES * DOCS];
  int* h_grades = new int[QUERIES * DOCS];
  int* h_cutoff = new int[QUERIES];
  read_binary("data/scores.bin", h_scores, QUERIES * DOCS);
  read_binary("data/grades.bin", reinterpret_cast<float*>(h_grades), QUERIES * DOCS);
  read_binary("data/cutoff.bin", reinterpret_cast<float*>(h_cutoff), QUERIES);

  float* d_scores;
  int *d_grades, *d_cutoff;
  cudaMalloc((void**)&d_scores, QUERIES * DOCS * sizeof(float));
  cudaMalloc((void**)&d_grades, QUERIES * DOCS * sizeof(int));
  cudaMalloc((void**)&d_cutoff, QUERIES * sizeof(int));
  cudaMemcpy(d_scores, h_scores, QUERIES * DOCS * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemcpy(d_grades, h_grades, QUERIES * DOCS * sizeof(int), cudaMemcpyHostToDevice);
  cudaMemcpy(d_cutoff, h_cutoff, QUERIES * sizeof(int), cudaMemcpyHostToDevice);

  float* d_ndcg;
  cudaMalloc((void**)&d_ndcg, QUERIES * sizeof(float));

  ndcg_kernel<<<QUERIES, 128>>>(d_scores, d_grades, d_cutoff, d_ndcg, DOCS);
  cudaError_t status = cudaGetLastError();
  if (status != cudaSuccess) {
    std::cerr << "CUDA error: " << cudaGetErrorString(status) << std::endl;
    return 1;
  }

  float* h_ndcg = new float[QUERIES];
  cudaMemcpy(h_ndcg, d_ndcg, QUERIES * sizeof(float), cudaMemcpyDeviceToHost);
  write_binary("data/ndcg.bin", h_ndcg, QUERIES);

  cudaFree(d_scores);
  cudaFree(d_grades);
  cudaFree(d_cutoff);
  cudaFree(d_ndcg);
  delete[] h_scores;
  delete[] h_grades;
  delete[] h_cutoff;
  delete[] h_ndcg;
  return 0;
}
