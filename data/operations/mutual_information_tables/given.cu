const int TABLES = 40;
const int BINS_X = 12;
const int BINS_Y = 16;
const int CELLS = BINS_X * BINS_Y;

__global__ void marginals(const int* joint, int* row_sum, int* col_sum, int* table_sum) {
  int k = blockIdx.x * blockDim.x + threadIdx.x;
  if (k >= TABLES * CELLS) return;
  int v = joint[k];
  if (v == 0) return;
  int table = k / CELLS, i = k % CELLS / BINS_Y, j = k % BINS_Y;
  atomicAdd(&row_sum[table * BINS_X + i], v);
  atomicAdd(&col_sum[table * BINS_Y + j], v);
  atomicAdd(&table_sum[table], v);
}

__global__ void mutual_information(const int* joint, const int* row_sum, const int* col_sum,
                                   const int* table_sum, float* information, float* uncertainty) {
  int table = blockIdx.x * blockDim.x + threadIdx.x;
  if (table >= TABLES) return;
  float n = (float)table_sum[table], mi = 0.0f, h = 0.0f;
  int occupied = 0;
  for (int i = 0; i < BINS_X; ++i) {
    float r = (float)row_sum[table * BINS_X + i];
    if (r == 0.0f) continue;
    ++occupied;
    h -= r / n * log2f(r / n);
    for (int j = 0; j < BINS_Y; ++j) {
      float v = (float)joint[table * CELLS + i * BINS_Y + j];
      if (v > 0.0f) mi += v / n * log2f(v * n / (r * (float)col_sum[table * BINS_Y + j]));
    }
  }
  information[table] = mi;
  uncertainty[table] = occupied > 1 ? mi / h : 0.0f;
}

int main() {
  const int cells = TABLES * BINS_X * BINS_Y;

  std::vector<int> h_joint(cells);
  read_binary("data/joint.bin", reinterpret_cast<float*>(h_joint.data()), cells);

  int* d_joint;
  float* d_information;
  float* d_uncertainty;
  int* d_row_sum;
  int* d_col_sum;
  int* d_table_sum;
  cudaMalloc(&d_joint, cells * sizeof(int));
  cudaMemcpy(d_joint, h_joint.data(), cells * sizeof(int), cudaMemcpyHostToDevice);
  cudaMalloc(&d_information, sizeof(float) * TABLES);
  cudaMalloc(&d_uncertainty, sizeof(float) * TABLES);
  cudaMalloc(&d_row_sum, sizeof(int) * TABLES * BINS_X);
  cudaMalloc(&d_col_sum, sizeof(int) * TABLES * BINS_Y);
  cudaMalloc(&d_table_sum, sizeof(int) * TABLES);

  cudaMemset(d_row_sum, 0, TABLES * BINS_X * sizeof(int));
  cudaMemset(d_col_sum, 0, TABLES * BINS_Y * sizeof(int));
  cudaMemset(d_table_sum, 0, TABLES * sizeof(int));
  marginals<<<(cells + 255) / 256, 256>>>(d_joint, d_row_sum, d_col_sum, d_table_sum);
  mutual_information<<<(TABLES + 63) / 64, 64>>>(d_joint, d_row_sum, d_col_sum, d_table_sum,
                                                 d_information, d_uncertainty);
  if (cudaGetLastError() != cudaSuccess) {
    std::cerr << "CUDA error" << std::endl;
    return 1;
  }
  cudaDeviceSynchronize();

  std::vector<float> h_information(TABLES);
  std::vector<float> h_uncertainty(TABLES);
  cudaMemcpy(h_information.data(), d_information, sizeof(float) * TABLES, cudaMemcpyDeviceToHost);
  cudaMemcpy(h_uncertainty.data(), d_uncertainty, sizeof(float) * TABLES, cudaMemcpyDeviceToHost);
  write_binary("data/information.bin", h_information.data(), TABLES);
  write_binary("data/uncertainty.bin", h_uncertainty.data(), TABLES);

  cudaFree(d_joint);
  cudaFree(d_information);
  cudaFree(d_uncertainty);
  cudaFree(d_row_sum);
  cudaFree(d_col_sum);
  cudaFree(d_table_sum);
  return 0;
}
