#define N 12000

__global__ void two_sum(const float* a, const float* b, float* sum, float* error, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float s = a[i] + b[i];
  float b_part = s - a[i];
  float a_part = s - b_part;
  sum[i] = s;
  error[i] = (a[i] - a_part) + (b[i] - b_part);
}

int main() {
  float* h_a = new float[N];
  read_binary("data/a.bin", h_a, N);
  float* h_b = new float[N];
  read_binary("data/b.bin", h_b, N);
  float* h_sum = new float[N];
  float* h_error = new float[N];

  float *d_a, *d_b, *d_sum, *d_error;
  cudaMalloc(&d_a, sizeof(float) * N);
  cudaMalloc(&d_b, sizeof(float) * N);
  cudaMalloc(&d_sum, sizeof(float) * N);
  cudaMalloc(&d_error, sizeof(float) * N);
  cudaMemcpy(d_a, h_a, sizeof(float) * N, cudaMemcpyHostToDevice);
  cudaMemcpy(d_b, h_b, sizeof(float) * N, cudaMemcpyHostToDevice);

  int block = 256;
  int grid = (N + block - 1) / block;
  two_sum<<<grid, block>>>(d_a, d_b, d_sum, d_error, N);
  cudaError_t err = cudaGetLastError();
  if (err != cudaSuccess) {
    std::cerr << "GPU error: " << cudaGetErrorString(err) << "\n";
    return 1;
  }

  cudaMemcpy(h_sum, d_sum, sizeof(float) * N, cudaMemcpyDeviceToHost);
  cudaMemcpy(h_error, d_error, sizeof(float) * N, cudaMemcpyDeviceToHost);
  write_binary("data/sum.bin", h_sum, N);
  write_binary("data/error.bin", h_error, N);

  cudaFree(d_a);
  cudaFree(d_b);
  cudaFree(d_sum);
  cudaFree(d_error);
  delete[] h_a;
  delete[] h_b;
  delete[] h_sum;
  delete[] h_error;
  return 0;
}
