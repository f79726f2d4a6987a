#define BATCH 30
#define N 40

// One block per system, one thread per row.
__global__ void solve_lower(const float* l, const float* b, float* x) {
  __shared__ float known[N];
  int i = threadIdx.x;
  const float* row = l + (blockIdx.x * N + i) * N;
  float rest = b[blockIdx.x * N + i];
  for (int k = 0; k < N; ++k) {
    if (i == k) known[k] = rest / row[k];
    __syncthreads();
    if (i > k) rest -= row[k] * known[k];
  }
  x[blockIdx.x * N + i] = known[i];
}

int main() {
  const int l_total = BATCH * N * N;
  const int size = BATCH * N;
  float* h_l = new float[l_total];
  float* h_b = new float[size];
  read_binary("data/l.bin", h_l, l_total);
  read_binary("data/b.bin", h_b, size);
  float *d_l, *d_b, *d_x;
  cudaMalloc(&d_l, l_total * sizeof(float));
  cudaMalloc(&d_b, size * sizeof(float));
  cudaMalloc(&d_x, size * sizeof(float));
  cudaMemcpy(d_l, h_l, l_total * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemcpy(d_b, h_b, size * sizeof(float), cudaMemcpyHostToDevice);

  solve_lower<<<BATCH, N>>>(d_l, d_b, d_x);
  cudaError_t status = cudaGetLastError();
  if (status == cudaSuccess) status = cudaDeviceSynchronize();
  if (status != cudaSuccess) {
    std::cerr << "kernel failed: " << cudaGetErrorString(status) << "\n";
    return 1;
  }

  float* h_x = new float[size];
  cudaMemcpy(h_x, d_x, size * sizeof(float), cudaMemcpyDeviceToHost);
  write_binary("data/x.bin", h_x, size);

  cudaFree(d_l);
  cudaFree(d_b);
  cudaFree(d_x);
  delete[] h_l;
  delete[] h_b;
  delete[] h_x;
  return 0;
}
