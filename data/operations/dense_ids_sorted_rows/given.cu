constexpr int kRows = 30;
constexpr int kCols = 400;

__global__ void dense_ids(const float* sorted_values, int* ids, int* distinct, int rows, int cols) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows) return;
  const float* row = sorted_values + (size_t)r * cols;
  int* out = ids + (size_t)r * cols;
  int id = 0;
  out[0] = 0;
  for (int c = 1; c < cols; ++c) {
    if (row[c] != row[c - 1]) ++id;
    out[c] = id;
  }
  distinct[r] = id + 1;
}

int main() {
  const int total = kRows * kCols;

  std::vector<float> h_sorted_values(total);
  read_binary("data/sorted_values.bin", h_sorted_values.data(), total);
  float* d_sorted_values;
  cudaMalloc(&d_sorted_values, total * sizeof(float));
  cudaMemcpy(d_sorted_values, h_sorted_values.data(), total * sizeof(float), cudaMemcpyHostToDevice);

  std::vector<int> h_ids(total);
  int* d_ids;
  cudaMalloc(&d_ids, total * sizeof(int));
  std::vector<int> h_distinct(kRows);
  int* d_distinct;
  cudaMalloc(&d_distinct, kRows * sizeof(int));

  int block = 64;
  int grid = (kRows + block - 1) / block;
  dense_ids<<<grid, block>>>(d_sorted_values, d_ids, d_distinct, kRows, kCols);
  cudaDeviceSynchronize();

  cudaMemcpy(h_ids.data(), d_ids, total * sizeof(int), cudaMemcpyDeviceToHost);
  write_binary("data/ids.bin", reinterpret_cast<const float*>(h_ids.data()), total);
  cudaMemcpy(h_distinct.data(), d_distinct, kRows * sizeof(int), cudaMemcpyDeviceToHost);
  write_binary("data/distinct.bin", reinterpret_cast<const float*>(h_distinct.data()), kRows);

  cudaFree(d_sorted_values);
  cudaFree(d_ids);
  cudaFree(d_distinct);
  return 0;
}
