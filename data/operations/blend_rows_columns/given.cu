#define ROWS 32
#define COLS 450

__global__ void blend_images(const float* a, const float* b, const float* row_weight, const float* col_weight,
                             float* out, int rows, int cols) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < rows * cols) {
    int r = i / cols;
    int c = i % cols;
    float w = row_weight[r] * col_weight[c];
    out[i] = a[i] + w * (b[i] - a[i]);
  }
}

int main() {
  const int numel = ROWS * COLS;
  const size_t size_bytes = numel * sizeof(float);
  float* h_a = new float[numel];
  float* h_b = new float[numel];
  float* h_row_weight = new float[ROWS];
  float* h_col_weight = new float[COLS];
  float* h_out = new float[numel];

  read_binary("data/a.bin", h_a, numel);
  read_binary("data/b.bin", h_b, numel);
  read_binary("data/row_weight.bin", h_row_weight, ROWS);
  read_binary("data/col_weight.bin", h_col_weight, COLS);

  float *d_a, *d_b, *d_row_weight, *d_col_weight, *d_out;
  cudaMalloc(&d_a, size_bytes);
  cudaMalloc(&d_b, size_bytes);
  cudaMalloc(&d_row_weight, ROWS * sizeof(float));
  cudaMalloc(&d_col_weight, COLS * sizeof(float));
  cudaMalloc(&d_out, size_bytes);

  cudaMemcpy(d_a, h_a, size_bytes, cudaMemcpyHostToDevice);
  cudaMemcpy(d_b, h_b, size_bytes, cudaMemcpyHostToDevice);
  cudaMemcpy(d_row_weight, h_row_weight, ROWS * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemcpy(d_col_weight, h_col_weight, COLS * sizeof(float), cudaMemcpyHostToDevice);

  const int threads = 256;
  const int blocks = (numel + threads - 1) / threads;
  blend_images<<<blocks, threads>>>(d_a, d_b, d_row_weight, d_col_weight, d_out, ROWS, COLS);
  cudaDeviceSynchronize();

  cudaMemcpy(h_out, d_out, size_bytes, cudaMemcpyDeviceToHost);
  write_binary("data/out.bin", h_out, numel);

  delete[] h_a;
  delete[] h_b;
  delete[] h_row_weight;
  delete[] h_col_weight;
  delete[] h_out;
  cudaFree(d_a);
  cudaFree(d_b);
  cudaFree(d_row_weight);
  cudaFree(d_col_weight);
  cudaFree(d_out);
  return 0;
}
