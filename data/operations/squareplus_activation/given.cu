constexpr int kRows = 32;
constexpr int kCols = 1000;

__global__ void squareplus(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    y[i] = (x[i] + sqrtf(x[i] * x[i] + 4.0f)) / 2.0f;
  }
}

int main() {
  const int size = kRows * kCols;
  const size_t bytes = size * sizeof(float);
  std::vector<float> h_x(size);
  read_binary("data/x.bin", h_x.data(), size);
  float* d_x = nullptr;
  cudaMalloc(&d_x, bytes);
  cudaMemcpy(d_x, h_x.data(), bytes, cudaMemcpyHostToDevice);

  std::vector<float> h_y(size);
  float* d_y = nullptr;
  cudaMalloc(&d_y, bytes);

  dim3 block(256);
  dim3 grid((size + block.x - 1) / block.x);
  squareplus<<<grid, block>>>(d_x, d_y, size);
  cudaError_t status = cudaGetLastError();
  if (status == cudaSuccess) status = cudaDeviceSynchronize();
  if (status != cudaSuccess) {
    std::cerr << "GPU error: " << cudaGetErrorString(status) << "\n";
    return 1;
  }

  cudaMemcpy(h_y.data(), d_y, bytes, cudaMemcpyDeviceToHost);
  write_binary("data/y.bin", h_y.data(), size);

  cudaFree(d_y);
  cudaFree(d_x);
  return 0;
}
