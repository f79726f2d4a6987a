constexpr int A_TOTAL = 8000;
constexpr int B_TOTAL = 6000;
constexpr int ROWS = 200;

__global__ void join_rows(const float* a_values, const int* a_offsets, const float* b_values, const int* b_offsets,
                          float* joined, int* joined_offsets, int rows) {
  int r = blockIdx.x;
  int a_start = a_offsets[r];
  int b_start = b_offsets[r];
  int a_len = a_offsets[r + 1] - a_start;
  int b_len = b_offsets[r + 1] - b_start;
  int start = a_start + b_start;
  for (int k = threadIdx.x; k < a_len; k += blockDim.x) joined[start + k] = a_values[a_start + k];
  for (int k = threadIdx.x; k < b_len; k += blockDim.x) joined[start + a_len + k] = b_values[b_start + k];
  if (threadIdx.x == 0) {
    joined_offsets[r] = start;
    if (r == rows - 1) joined_offsets[rows] = start + a_len + b_len;
  }
}

int main() {
  const size_t items = ROWS + 1;
  const size_t joined_total = A_TOTAL + B_TOTAL;
  float* h_a_values = new float[A_TOTAL];
  read_binary("data/a_values.bin", h_a_values, A_TOTAL);
  int* h_a_offsets = new int[items];
  read_binary("data/a_offsets.bin", reinterpret_cast<float*>(h_a_offsets), items);
  float* h_b_values = new float[B_TOTAL];
  read_binary("data/b_values.bin", h_b_values, B_TOTAL);
  int* h_b_offsets = new int[items];
  read_binary("data/b_offsets.bin", reinterpret_cast<float*>(h_b_offsets), items);
  float* h_joined = new float[joined_total];
  int* h_joined_offsets = new int[items];

  float* d_a_values;
  int* d_a_offsets;
  float* d_b_values;
  int* d_b_offsets;
  float* d_joined;
  int* d_joined_offsets;
  cudaMalloc(&d_a_values, A_TOTAL * sizeof(float));
  cudaMalloc(&d_a_offsets, items * sizeof(int));
  cudaMalloc(&d_b_values, B_TOTAL * sizeof(float));
  cudaMalloc(&d_b_offsets, items * sizeof(int));
  cudaMalloc(&d_joined, joined_total * sizeof(float));
  cudaMalloc(&d_joined_offsets, items * sizeof(int));
  cudaMemcpy(d_a_values, h_a_values, A_TOTAL * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemcpy(d_a_offsets, h_a_offsets, items * sizeof(int), cudaMemcpyHostToDevice);
  cudaMemcpy(d_b_values, h_b_values, B_TOTAL * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemcpy(d_b_offsets, h_b_offsets, items * sizeof(int), cudaMemcpyHostToDevice);

  join_rows<<<ROWS, 64>>>(d_a_values, d_a_offsets, d_b_values, d_b_offsets, d_joined, d_joined_offsets, ROWS);
  if (cudaDeviceSynchronize() != cudaSuccess) {
    std::cerr << "error\n";
    return 1;
  }

  cudaMemcpy(h_joined, d_joined, joined_total * sizeof(float), cudaMemcpyDeviceToHost);
  cudaMemcpy(h_joined_offsets, d_joined_offsets, items * sizeof(int), cudaMemcpyDeviceToHost);
  write_binary("data/joined.bin", h_joined, joined_total);
  write_binary("data/joined_offsets.bin", reinterpret_cast<const float*>(h_joined_offsets), items);

  cudaFree(d_a_values);
  cudaFree(d_a_offsets);
  cudaFree(d_b_values);
  cudaFree(d_b_offsets);
  cudaFree(d_joined);
  cudaFree(d_joined_offsets);
  delete[] h_a_values;
  delete[] h_a_offsets;
  delete[] h_b_values;
  delete[] h_b_offsets;
  delete[] h_joined;
  delete[] h_joined_offsets;
  return 0;
}
