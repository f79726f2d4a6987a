const int BATCH = 8;
const int M = 15;
const int N = 21;

__global__ void apply_left(const float* a, const float* x, float* half, int total) {
  int idx = blockIdx.x * blockDim.x + threadIdx.x;
  if (idx >= total) return;
  int v = idx % N;
  int i = idx / N % M;
  int batch = idx / (M * N);
  float sum = 0.0f;
  for (int j = 0; j < M; ++j) sum += a[i * M + j] * x[(batch * M + j) * N + v];
  half[idx] = sum;
}

__global__ void apply_right(const float* b, const float* half, float* y, int total) {
  int idx = blockIdx.x * blockDim.x + threadIdx.x;
  if (idx >= total) return;
  int u = idx % N;
  int row = idx / N;
  float sum = 0.0f;
  for (int v = 0; v < N; ++v) sum += b[u * N + v] * half[row * N + v];
  y[idx] = sum;
}

int main() {
  const int numel = BATCH * M * N;
  const size_t size_bytes = numel * sizeof(float);

  float* h_a = new float[M * M];
  read_binary("data/a.bin", h_a, M * M);
  float* d_a;
  cudaMalloc(&d_a, M * M * sizeof(float));
  cudaMemcpy(d_a, h_a, M * M * sizeof(float), cudaMemcpyHostToDevice);

  float* h_b = new float[N * N];
  read_binary("data/b.bin", h_b, N * N);
  float* d_b;
  cudaMalloc(&d_b, N * N * sizeof(float));
  cudaMemcpy(d_b, h_b, N * N * sizeof(float), cudaMemcpyHostToDevice);

  float* h_x = new float[numel];
  read_binary("data/x.bin", h_x, numel);
  float* d_x;
  cudaMalloc(&d_x, size_bytes);
  cudaMemcpy(d_x, h_x, size_bytes, cudaMemcpyHostToDevice);

  float* h_y = new float[numel];
  float* d_y;
  cudaMalloc(&d_y, size_bytes);
  float* d_half;
  cudaMalloc(&d_half, size_bytes);

  const int threads = 256;
  const int blocks = (numel + threads - 1) / threads;
  apply_left<<<blocks, threads>>>(d_a, d_x, d_half, numel);
  apply_right<<<blocks, threads>>>(d_b, d_half, d_y, numel);
  cudaError_t err = cudaGetLastError();
  if (err != cudaSuccess) {
    std::cerr << "kronecker kernel: " << cudaGetErrorString(err) << "\n";
    return 1;
  }

  cudaMemcpy(h_y, d_y, size_bytes, cudaMemcpyDeviceToHost);
  write_binary("data/y.bin", h_y, numel);

  cudaFree(d_a);
  cudaFree(d_b);
  cudaFree(d_x);
  cudaFree(d_y);
  cudaFree(d_half);
  delete[] h_a;
  delete[] h_b;
  delete[] h_x;
  delete[] h_y;
  return 0;
}
