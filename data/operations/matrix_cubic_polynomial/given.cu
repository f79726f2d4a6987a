#define COUNT 60
#define N 16

// One block per matrix, one thread per entry.
__global__ void matrix_cubic(const float* a, const float* coef, float* p) {
  __shared__ float m[N][N];
  __shared__ float square[N][N];
  int i = threadIdx.y, j = threadIdx.x;
  int at = (blockIdx.x * N + i) * N + j;
  m[i][j] = a[at];
  __syncthreads();
  float s2 = 0.0f;
  for (int k = 0; k < N; ++k) s2 += m[i][k] * m[k][j];
  square[i][j] = s2;
  __syncthreads();
  float s3 = 0.0f;
  for (int k = 0; k < N; ++k) s3 += square[i][k] * m[k][j];
  float value = coef[1] * m[i][j] + coef[2] * s2 + coef[3] * s3;
  if (i == j) value += coef[0];
  p[at] = value;
}

int main() {
  const size_t numel = COUNT * N * N;

  float* h_a = new float[numel];
  read_binary("data/a.bin", h_a, numel);
  float* h_coef = new float[4];
  read_binary("data/coef.bin", h_coef, 4);

  float* d_a = nullptr;
  float* d_coef = nullptr;
  float* d_p = nullptr;
  cudaMalloc(&d_a, numel * sizeof(float));
  cudaMemcpy(d_a, h_a, numel * sizeof(float), cudaMemcpyHostToDevice);
  cudaMalloc(&d_coef, 4 * sizeof(float));
  cudaMemcpy(d_coef, h_coef, 4 * sizeof(float), cudaMemcpyHostToDevice);
  cudaMalloc(&d_p, numel * sizeof(float));

  dim3 threads(N, N);
  matrix_cubic<<<COUNT, threads>>>(d_a, d_coef, d_p);
  cudaError_t err = cudaDeviceSynchronize();
  if (err != cudaSuccess) {
    std::cerr << "error: " << cudaGetErrorString(err) << "\n";
    return 1;
  }

  float* h_p = new float[numel];
  cudaMemcpy(h_p, d_p, numel * sizeof(float), cudaMemcpyDeviceToHost);
  write_binary("data/p.bin", h_p, numel);

  delete[] h_a;
  delete[] h_coef;
  delete[] h_p;
  cudaFree(d_a);
  cudaFree(d_coef);
  cudaFree(d_p);
  return 0;
}
