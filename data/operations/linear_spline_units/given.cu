const int ROWS = 50;
const int UNITS = 120;
const int KNOTS = 9;

__global__ void spline_units(const float* x, const float* table, float* y, int n, int units, int knots) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float position = (x[i] + 3.0f) * (knots - 1) / 6.0f;
  int k = (int)floorf(position);
  k = max(0, min(k, knots - 2));
  const float* value = table + (i % units) * knots;
  y[i] = value[k] + (position - k) * (value[k + 1] - value[k]);
}

int main() {
  const int numel = ROWS * UNITS;
  std::vector<float> h_x(numel);
  read_binary("data/x.bin", h_x.data(), numel);
  std::vector<float> h_table(UNITS * KNOTS);
  read_binary("data/table.bin", h_table.data(), UNITS * KNOTS);

  float *d_x, *d_table, *d_y;
  cudaMalloc(&d_x, numel * sizeof(float));
  cudaMemcpy(d_x, h_x.data(), numel * sizeof(float), cudaMemcpyHostToDevice);
  cudaMalloc(&d_table, UNITS * KNOTS * sizeof(float));
  cudaMemcpy(d_table, h_table.data(), UNITS * KNOTS * sizeof(float), cudaMemcpyHostToDevice);
  cudaMalloc(&d_y, numel * sizeof(float));

  const int threads = 128;
  const int blocks = (numel + threads - 1) / threads;
  spline_units<<<blocks, threads>>>(d_x, d_table, d_y, numel, UNITS, KNOTS);
  if (cudaGetLastError() != cudaSuccess) {
    std::cerr << "CUDA error" << std::endl;
    return 1;
  }
  cudaDeviceSynchronize();

  std::vector<float> h_y(numel);
  cudaMemcpy(h_y.data(), d_y, numel * sizeof(float), cudaMemcpyDeviceToHost);
  write_binary("data/y.bin", h_y.data(), numel);

  cudaFree(d_x);
  cudaFree(d_table);
  cudaFree(d_y);
  return 0;
}
