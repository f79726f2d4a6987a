constexpr int kCount = 3000;

__global__ void invert_2x2(const float* m, float* inv, int* singular, int count) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  float a = m[4 * i], b = m[4 * i + 1], c = m[4 * i + 2], d = m[4 * i + 3];
  float det = a * d - b * c;
  bool bad = fabsf(det) < 0.05f;
  float scale = bad ? 0.0f : 1.0f / det;
  inv[4 * i] = d * scale;
  inv[4 * i + 1] = -b * scale;
  inv[4 * i + 2] = -c * scale;
  inv[4 * i + 3] = a * scale;
  singular[i] = bad ? 1 : 0;
}

int main() {
  const size_t numel = kCount * 2 * 2;
  const size_t bytes = numel * sizeof(float);
  std::vector<float> h_m(numel);
  read_binary("data/m.bin", h_m.data(), numel);
  float* d_m = nullptr;
  cudaMalloc(&d_m, bytes);
  cudaMemcpy(d_m, h_m.data(), bytes, cudaMemcpyHostToDevice);

  std::vector<float> h_inv(numel);
  float* d_inv = nullptr;
  cudaMalloc(&d_inv, bytes);
  std::vector<int> h_singular(kCount);
  int* d_singular = nullptr;
  cudaMalloc(&d_singular, kCount * sizeof(int));

  const int threads = 512;
  invert_2x2<<<(kCount + threads - 1) / threads, threads>>>(d_m, d_inv, d_singular, kCount);
  if (cudaGetLastError() != cudaSuccess) {
    std::cerr << "kernel failed" << std::endl;
    return 1;
  }
  cudaDeviceSynchronize();

  cudaMemcpy(h_inv.data(), d_inv, bytes, cudaMemcpyDeviceToHost);
  cudaMemcpy(h_singular.data(), d_singular, kCount * sizeof(int), cudaMemcpyDeviceToHost);
  write_binary("data/inv.bin", h_inv.data(), numel);
  write_binary("data/singular.bin", reinterpret_cast<const float*>(h_singular.data()), kCount);

  cudaFree(d_m);
  cudaFree(d_inv);
  cudaFree(d_singular);
  return 0;
}
