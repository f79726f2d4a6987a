constexpr int kRows = 200;
constexpr int kCols = 150;

__global__ void expanding_variance(const float* x, float* var, int rows, int cols) {
  int c = blockIdx.x * blockDim.x + threadIdx.x;
  if (c >= cols) return;
  float mean = 0.0f, m2 = 0.0f;
  for (int r = 0; r < rows; ++r) {
    float v = x[(size_t)r * cols + c];
    float d = v - mean;
    mean += d / (r + 1);
    m2 += d * (v - mean);
    var[(size_t)r * cols + c] = r > 0 ? m2 / r : 0.0f;
  }
}

int main() {
  float* h_x = new float[kRows * kCols];
  read_binary("data/x.bin", h_x, kRows * kCols);
  float* h_var = new float[kRows * kCols];

  float* d_x;
  cudaMalloc(&d_x, kRows * kCols * sizeof(float));
  float* d_var;
  cudaMalloc(&d_var, kRows * kCols * sizeof(float));

  cudaMemcpy(d_x, h_x, kRows * kCols * sizeof(float), cudaMemcpyHostToDevice);

  dim3 block(128);
  dim3 grid((kCols + 128 - 1) / 128);
  expanding_variance<<<grid, block>>>(d_x, d_var, kRows, kCols);
  cudaDeviceSynchronize();

  cudaMemcpy(h_var, d_var, kRows * kCols * sizeof(float), cudaMemcpyDeviceToHost);
  write_binary("data/var.bin", h_var, kRows * kCols);
  cudaFree(d_x);
  cudaFree(d_var);
  delete[] h_x;
  delete[] h_var;
  return 0;
}
