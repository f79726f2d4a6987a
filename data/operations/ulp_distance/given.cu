const int N = 10000;

__device__ long long ordered_value(float v) {
  int bits = __float_as_int(v);
  long long m = bits & 0x7fffffff;
  return bits < 0 ? -m : m;
}

__global__ void ulp_kernel(const float* a, const float* b, long long* ulps, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    long long diff = ordered_value(a[i]) - ordered_value(b[i]);
    ulps[i] = diff < 0 ? -diff : diff;
  }
}

int main() {
  float* h_a = new float[N];
  float* h_b = new float[N];
  long long* h_ulps = new long long[N];

  read_binary("data/a.bin", h_a, N);
  read_binary("data/b.bin", h_b, N);

  float *d_a, *d_b;
  long long* d_ulps;
  cudaMalloc(&d_a, N * sizeof(float));
  cudaMalloc(&d_b, N * sizeof(float));
  cudaMalloc(&d_ulps, N * sizeof(long long));

  cudaMemcpy(d_a, h_a, N * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemcpy(d_b, h_b, N * sizeof(float), cudaMemcpyHostToDevice);

  const int block_size = 256;
  const int grid_size = (N + block_size - 1) / block_size;
  ulp_kernel<<<grid_size, block_size>>>(d_a, d_b, d_ulps, N);
  cudaError_t status = cudaDeviceSynchronize();
  if (status != cudaSuccess) {
    std::cerr << "Kernel failed: " << cudaGetErrorString(status) << std::endl;
    return 1;
  }

  cudaMemcpy(h_ulps, d_ulps, N * sizeof(long long), cudaMemcpyDeviceToHost);
  write_binary("data/ulps.bin", (float*)h_ulps, 2 * N);

  cudaFree(d_a);
  cudaFree(d_b);
  cudaFree(d_ulps);
  delete[] h_a;
  delete[] h_b;
  delete[] h_ulps;
  return 0;
}
