const int ROWS = 300;
const int COLS = 200;

__global__ void toeplitz(const float* t, const float* x, float* y, int rows, int cols) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= rows) return;
  float sum = 0.0f;
  for (int j = 0; j < cols; ++j) {
    sum += t[i - j + cols - 1] * x[j];
  }
  y[i] = sum;
}

int main() {
  const size_t numel = ROWS + COLS - 1;
  float* h_t = new float[numel];
  float* h_x = new float[COLS];
  float* h_y = new float[ROWS];
  read_binary("data/t.bin", h_t, numel);
  read_binary("data/x.bin", h_x, COLS);

  float* d_t = nullptr;
  cudaMalloc(&d_t, numel * sizeof(float));
  cudaMemcpy(d_t, h_t, numel * sizeof(float), cudaMemcpyHostToDevice);
  float* d_x = nullptr;
  cudaMalloc(&d_x, sizeof(float) * COLS);
  cudaMemcpy(d_x, h_x, sizeof(float) * COLS, cudaMemcpyHostToDevice);
  float* d_y = nullptr;
  cudaMalloc(&d_y, sizeof(float) * ROWS);

  const int threads = 128;
  const int blocks = (ROWS + threads - 1) / threads;
  toeplitz<<<blocks, threads>>>(d_t, d_x, d_y, ROWS, COLS);
  cudaDeviceSynchronize();

  cudaMemcpy(h_y, d_y, sizeof(float) * ROWS, cudaMemcpyDeviceToHost);
  write_binary("data/y.bin", h_y, ROWS);

  cudaFree(d_t);
  cudaFree(d_x);
  cudaFree(d_y);
  delete[] h_t;
  delete[] h_x;
  delete[] h_y;
  return 0;
}
