constexpr int kBatch = 4;
constexpr int kOrder = 64;
constexpr int kHalf = 9;

__global__ void expand_bands(const float* bands, float* dense, int order, int half, int total) {
  int idx = blockIdx.x * blockDim.x + threadIdx.x;
  if (idx >= total) return;
  int j = idx % order;
  int i = idx / order % order;
  int b = idx / (order * order);
  int offset = i - j;
  float value = 0.0f;
  if (offset >= -half && offset <= half) {
    value = bands[(b * (2 * half + 1) + half + offset) * order + j];
  }
  dense[idx] = value;
}

int main() {
  const int bands_size = kBatch * (2 * kHalf + 1) * kOrder;
  const int dense_size = kBatch * kOrder * kOrder;
  float* h_bands = new float[bands_size];
  float* h_dense = new float[dense_size];
  read_binary("data/bands.bin", h_bands, bands_size);

  float* d_bands;
  float* d_dense;
  cudaMalloc(&d_bands, bands_size * sizeof(float));
  cudaMalloc(&d_dense, dense_size * sizeof(float));
  cudaMemcpy(d_bands, h_bands, bands_size * sizeof(float), cudaMemcpyHostToDevice);

  const int threads = 256;
  const int blocks = (dense_size + threads - 1) / threads;
  expand_bands<<<blocks, threads>>>(d_bands, d_dense, kOrder, kHalf, dense_size);
  cudaError_t err = cudaDeviceSynchronize();
  if (err != cudaSuccess) {
    std::cerr << "kernel failed: " << cudaGetErrorString(err) << std::endl;
    return 1;
  }

  cudaMemcpy(h_dense, d_dense, dense_size * sizeof(float), cudaMemcpyDeviceToHost);
  write_binary("data/dense.bin", h_dense, dense_size);

  cudaFree(d_bands);
  cudaFree(d_dense);
  delete[] h_bands;
  delete[] h_dense;
  return 0;
}
