#define ROWS 30
#define COLS 500

__global__ void digamma_kernel(const float* x, float* psi, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float v = x[i];
  float result = 0.0f;
  while (v < 6.0f) {
    result -= 1.0f / v;
    v += 1.0f;
  }
  float q = 1.0f / (v * v);
  result += logf(v) - 0.5f / v;
  result -= q * (1.0f / 12.0f - q * (1.0f / 120.0f - q * (1.0f / 252.0f)));
  psi[i] = result;
}

int main() {
  const int count = ROWS * COLS;

  std::vector<float> h_x(count);
  std::vector<float> h_psi(count);

  read_binary("data/x.bin", h_x.data(), count);

  float* d_x = nullptr;
  float* d_psi = nullptr;
  cudaMalloc(&d_x, count * sizeof(float));
  cudaMalloc(&d_psi, count * sizeof(float));

  cudaMemcpy(d_x, h_x.data(), count * sizeof(float), cudaMemcpyHostToDevice);

  const int threads = 128;
  digamma_kernel<<<(count + threads - 1) / threads, threads>>>(d_x, d_psi, count);
  cudaError_t err = cudaGetLastError();
  if (err != cudaSuccess) {
    std::cerr << "launch failed: " << cudaGetErrorString(err) << "\n";
    return 1;
  }

  cudaMemcpy(h_psi.data(), d_psi, count * sizeof(float), cudaMemcpyDeviceToHost);
  write_binary("data/psi.bin", h_psi.data(), count);

  cudaFree(d_x);
  cudaFree(d_psi);
  return 0;
}
