const int ROWS = 60;
const int COLS = 300;

__global__ void number_occurrences(const unsigned char* code, int* number, int rows, int cols) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows) return;
  int seen[16] = {0};
  for (int c = 0; c < cols; ++c) {
    int k = code[r * cols + c];
    number[r * cols + c] = seen[k];
    seen[k]++;
  }
}

int main() {
  const int total = ROWS * COLS;
  const size_t code_floats = (total + 3) / 4;

  std::vector<unsigned char> h_code(4 * code_floats);
  read_binary("data/code.bin", reinterpret_cast<float*>(h_code.data()), code_floats);

  unsigned char* d_code;
  int* d_number;
  cudaMalloc(&d_code, total * sizeof(unsigned char));
  cudaMalloc(&d_number, total * sizeof(int));
  cudaMemcpy(d_code, h_code.data(), total * sizeof(unsigned char), cudaMemcpyHostToDevice);

  dim3 block(64);
  dim3 grid((ROWS + 63) / 64);
  number_occurrences<<<grid, block>>>(d_code, d_number, ROWS, COLS);
  cudaError_t status = cudaGetLastError();
  if (status == cudaSuccess) status = cudaDeviceSynchronize();
  if (status != cudaSuccess) {
    std::cerr << "kernel failed: " << cudaGetErrorString(status) << "\n";
    return 1;
  }

  std::vector<int> h_number(total);
  cudaMemcpy(h_number.data(), d_number, total * sizeof(int), cudaMemcpyDeviceToHost);
  write_binary("data/number.bin", reinterpret_cast<const float*>(h_number.data()), total);

  cudaFree(d_code);
  cudaFree(d_number);
  return 0;
}
