constexpr int kBatch = 12;
constexpr int kM = 40;
constexpr int kN = 50;
constexpr int kThreads = 256;

__global__ void product_trace(const float* a, const float* b, float* trace, int m, int n) {
  __shared__ float sums[kThreads];
  const float* left = a + blockIdx.x * m * n;
  const float* right = b + blockIdx.x * n * m;
  float sum = 0.0f;
  for (int e = threadIdx.x; e < m * n; e += kThreads) {
    sum += left[e] * right[e % n * m + e / n];
  }
  sums[threadIdx.x] = sum;
  __syncthreads();
  for (int s = kThreads / 2; s > 0; s /= 2) {
    if (threadIdx.x < s) sums[threadIdx.x] += sums[threadIdx.x + s];
    __syncthreads();
  }
  if (threadIdx.x == 0) trace[blockIdx.x] = sums[0];
}

int main() {
  const int b_count = kBatch * kN * kM;

  float* h_a = new float[kBatch * kM * kN];
  float* h_b = new float[b_count];
  float* h_trace = new float[kBatch];

  read_binary("data/a.bin", h_a, kBatch * kM * kN);
  read_binary("data/b.bin", h_b, b_count);

  float* d_a;
  float* d_b;
  float* d_trace;
  cudaMalloc(&d_a, kBatch * kM * kN * sizeof(float));
  cudaMalloc(&d_b, b_count * sizeof(float));
  cudaMalloc(&d_trace, kBatch * sizeof(float));

  cudaMemcpy(d_a, h_a, kBatch * kM * kN * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemcpy(d_b, h_b, b_count * sizeof(float), cudaMemcpyHostToDevice);

  product_trace<<<kBatch, kThreads>>>(d_a, d_b, d_trace, kM, kN);
  cudaError_t err = cudaGetLastError();
  if (err != cudaSuccess) {
    std::cerr << "kernel failed: " << cudaGetErrorString(err) << "\n";
    return 1;
  }

  cudaMemcpy(h_trace, d_trace, kBatch * sizeof(float), cudaMemcpyDeviceToHost);
  write_binary("data/trace.bin", h_trace, kBatch);

  delete[] h_a;
  delete[] h_b;
  delete[] h_trace;
  cudaFree(d_a);
  cudaFree(d_b);
  cudaFree(d_trace);
  return 0;
}
