constexpr int kNodes = 400;
constexpr int kEdges = 3000;
constexpr int kDim = 24;
constexpr int kTotal = kNodes * kDim;

__global__ void max_neighbors(const int* row_start, const int* neighbor, const float* feature,
                              float* pooled, int dim, int total) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= total) return;
  int v = i / dim;
  int c = i % dim;
  int begin = row_start[v], end = row_start[v + 1];
  float best = begin < end ? -FLT_MAX : 0.0f;
  for (int k = begin; k < end; ++k) {
    best = fmaxf(best, feature[neighbor[k] * dim + c]);
  }
  pooled[i] = best;
}

int main() {
  const size_t size = kNodes + 1;
  int* h_row_start = new int[size];
  read_binary("data/row_start.bin", reinterpret_cast<float*>(h_row_start), size);
  int* h_neighbor = new int[kEdges];
  read_binary("data/neighbor.bin", reinterpret_cast<float*>(h_neighbor), kEdges);
  float* h_feature = new float[kTotal];
  read_binary("data/feature.bin", h_feature, kTotal);
  float* h_pooled = new float[kTotal];

  int *d_row_start, *d_neighbor;
  float *d_feature, *d_pooled;
  cudaMalloc(&d_row_start, size * sizeof(int));
  cudaMalloc(&d_neighbor, kEdges * sizeof(int));
  cudaMalloc(&d_feature, kTotal * sizeof(float));
  cudaMalloc(&d_pooled, kTotal * sizeof(float));
  cudaMemcpy(d_row_start, h_row_start, size * sizeof(int), cudaMemcpyHostToDevice);
  cudaMemcpy(d_neighbor, h_neighbor, kEdges * sizeof(int), cudaMemcpyHostToDevice);
  cudaMemcpy(d_feature, h_feature, kTotal * sizeof(float), cudaMemcpyHostToDevice);

  int threads = 256;
  int blocks = (kTotal + threads - 1) / threads;
  max_neighbors<<<blocks, threads>>>(d_row_start, d_neighbor, d_feature, d_pooled, kDim, kTotal);
  if (cudaGetLastError() != cudaSuccess) {
    std::cerr << "launch failed\n";
    return 1;
  }
  cudaDeviceSynchronize();

  cudaMemcpy(h_pooled, d_pooled, kTotal * sizeof(float), cudaMemcpyDeviceToHost);
  write_binary("data/pooled.bin", h_pooled, kTotal);

  cudaFree(d_row_start);
  cudaFree(d_neighbor);
  cudaFree(d_feature);
  cudaFree(d_pooled);
  delete[] h_row_start;
  delete[] h_neighbor;
  delete[] h_feature;
  delete[] h_pooled;
  return 0;
}
