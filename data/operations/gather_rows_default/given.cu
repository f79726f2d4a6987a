const int ENTRIES = 100;
const int DIM = 50;
const int LOOKUPS = 300;

__global__ void gather_rows(const float* table, const int* ids, const float* fallback, float* out,
              int entries, int dim, int total) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= total) return;
  int col = i % dim;
  int id = ids[i / dim];
  bool known = id >= 0 && id < entries;
  out[i] = known ? table[id * dim + col] : fallback[col];
}

int main() {
  const int out_total = LOOKUPS * DIM;
  std::vector<float> h_table(ENTRIES * DIM);
  read_binary("data/table.bin", h_table.data(), ENTRIES * DIM);
  std::vector<int> h_ids(LOOKUPS);
  read_binary("data/ids.bin", reinterpret_cast<float*>(h_ids.data()), LOOKUPS);
  std::vector<float> h_fallback(DIM);
  read_binary("data/fallback.bin", h_fallback.data(), DIM);
  std::vector<float> h_out(out_total);

  float* d_table;
  int* d_ids;
  float* d_fallback;
  float* d_out;
  cudaMalloc(&d_table, sizeof(float) * ENTRIES * DIM);
  cudaMalloc(&d_ids, sizeof(int) * LOOKUPS);
  cudaMalloc(&d_fallback, sizeof(float) * DIM);
  cudaMalloc(&d_out, out_total * sizeof(float));
  cudaMemcpy(d_table, h_table.data(), sizeof(float) * ENTRIES * DIM, cudaMemcpyHostToDevice);
  cudaMemcpy(d_ids, h_ids.data(), sizeof(int) * LOOKUPS, cudaMemcpyHostToDevice);
  cudaMemcpy(d_fallback, h_fallback.data(), sizeof(float) * DIM, cudaMemcpyHostToDevice);

  int threads = 256;
  int blocks = (out_total + threads - 1) / threads;
  gather_rows<<<blocks, threads>>>(d_table, d_ids, d_fallback, d_out, ENTRIES, DIM, out_total);
  cudaError_t err = cudaGetLastError();
  if (err != cudaSuccess) {
    std::cerr << "gather kernel: " << cudaGetErrorString(err) << std::endl;
    return 1;
  }

  cudaMemcpy(h_out.data(), d_out, out_total * sizeof(float), cudaMemcpyDeviceToHost);
  write_binary("data/out.bin", h_out.data(), out_total);

  cudaFree(d_table);
  cudaFree(d_ids);
  cudaFree(d_fallback);
  cudaFree(d_out);
  return 0;
}
