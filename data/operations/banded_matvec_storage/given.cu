constexpr int kN = 1000;
constexpr int kKl = 3;
constexpr int kKu = 2;

__global__ void band_multiply(const float* band, const float* x, float* y, int n, int kl, int ku) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int first = max(i - kl, 0);
  int last = min(i + ku, n - 1);
  float sum = 0.0f;
  for (int j = first; j <= last; ++j) {
    sum += band[(ku + i - j) * n + j] * x[j];
  }
  y[i] = sum;
}

int main() {
  const int elements = (kKl + kKu + 1) * kN;
  float* h_band = new float[elements];
  float* h_x = new float[kN];
  float* h_y = new float[kN];
  read_binary("data/band.bin", h_band, elements);
  read_binary("data/x.bin", h_x, kN);

  float *d_band, *d_x, *d_y;
  cudaMalloc(&d_band, elements * sizeof(float));
  cudaMalloc(&d_x, sizeof(float) * kN);
  cudaMalloc(&d_y, sizeof(float) * kN);
  cudaMemcpy(d_band, h_band, elements * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemcpy(d_x, h_x, sizeof(float) * kN, cudaMemcpyHostToDevice);

  const int block = 256;
  const int grid = (kN + block - 1) / block;
  band_multiply<<<grid, block>>>(d_band, d_x, d_y, kN, kKl, kKu);
  cudaError_t err = cudaGetLastError();
  if (err != cudaSuccess) {
    std::cerr << "GPU error: " << cudaGetErrorString(err) << "\n";
    return 1;
  }

  cudaMemcpy(h_y, d_y, sizeof(float) * kN, cudaMemcpyDeviceToHost);
  write_binary("data/y.bin", h_y, kN);

  cudaFree(d_band);
  cudaFree(d_x);
  cudaFree(d_y);
  delete[] h_band;
  delete[] h_x;
  delete[] h_y;
  return 0;
}
