constexpr int ROWS = 60;
constexpr int COLS = 256;

__global__ void recurrence_rows(const float* decay, const float* x, float* h, int rows, int cols) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows) return;
  float state = 0.0f;
  for (int c = 0; c < cols; ++c) {
    int i = r * cols + c;
    state = c == 0 ? x[i] : decay[i] * state + x[i];
    h[i] = state;
  }
}

int main() {
  const int elements = ROWS * COLS;

  float* h_decay = new float[elements];
  float* h_x = new float[elements];
  float* h_h = new float[elements];
  read_binary("data/decay.bin", h_decay, elements);
  read_binary("data/x.bin", h_x, elements);

  float *d_decay, *d_x, *d_h;
  cudaMalloc(&d_decay, elements * sizeof(float));
  cudaMalloc(&d_x, elements * sizeof(float));
  cudaMalloc(&d_h, elements * sizeof(float));

  cudaMemcpy(d_decay, h_decay, elements * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemcpy(d_x, h_x, elements * sizeof(float), cudaMemcpyHostToDevice);

  dim3 block(64);
  dim3 grid((ROWS + block.x - 1) / block.x);
  recurrence_rows<<<grid, block>>>(d_decay, d_x, d_h, ROWS, COLS);
  cudaError_t err = cudaGetLastError();
  if (err != cudaSuccess) {
    std::cerr << "variable kernel: " << cudaGetErrorString(err) << std::endl;
    return 1;
  }

  cudaMemcpy(h_h, d_h, elements * sizeof(float), cudaMemcpyDeviceToHost);
  write_binary("data/h.bin", h_h, elements);

  cudaFree(d_decay);
  cudaFree(d_x);
  cudaFree(d_h);
  delete[] h_decay;
  delete[] h_x;
  delete[] h_h;
  return 0;
}
