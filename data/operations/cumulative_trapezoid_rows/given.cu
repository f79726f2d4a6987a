constexpr int kRows = 50;
constexpr int kPoints = 400;

__global__ void trapezoid(const float* f, const float* t, float* area, int rows, int points) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows) return;
  const float* y = f + (size_t)r * points;
  float* out = area + (size_t)r * points;
  float sum = 0.0f;
  out[0] = 0.0f;
  for (int i = 1; i < points; ++i) {
    sum += 0.5f * (y[i - 1] + y[i]) * (t[i] - t[i - 1]);
    out[i] = sum;
  }
}

int main() {
  size_t elements = static_cast<size_t>(kRows) * kPoints;

  std::vector<float> h_f(elements);
  read_binary("data/f.bin", h_f.data(), elements);
  std::vector<float> h_t(kPoints);
  read_binary("data/t.bin", h_t.data(), kPoints);

  float* d_f;
  cudaMalloc(&d_f, elements * sizeof(float));
  float* d_t;
  cudaMalloc(&d_t, kPoints * sizeof(float));
  float* d_area;
  cudaMalloc(&d_area, elements * sizeof(float));
  cudaMemcpy(d_f, h_f.data(), elements * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemcpy(d_t, h_t.data(), kPoints * sizeof(float), cudaMemcpyHostToDevice);

  int block_size = 64;
  int grid_size = (kRows + block_size - 1) / block_size;
  trapezoid<<<grid_size, block_size>>>(d_f, d_t, d_area, kRows, kPoints);
  cudaError_t err = cudaGetLastError();
  if (err != cudaSuccess) {
    std::cerr << "kernel launch failed: " << cudaGetErrorString(err) << std::endl;
    return 1;
  }

  std::vector<float> h_area(elements);
  cudaMemcpy(h_area.data(), d_area, elements * sizeof(float), cudaMemcpyDeviceToHost);
  write_binary("data/area.bin", h_area.data(), elements);

  cudaFree(d_f);
  cudaFree(d_t);
  cudaFree(d_area);
  return 0;
}
