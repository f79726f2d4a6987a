const int N = 18000;

__global__ void poisson_loss(const float* log_rate, const float* count, float* loss, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    float x = log_rate[i];
    float k = count[i];
    float result = expf(x) - k * x;
    if (k > 1.0f) {
      result += k * logf(k) - k + 0.5f * logf(2.0f * 3.14159265f * k);
    }
    loss[i] = result;
  }
}

int main() {
  float* h_log_rate = new float[N];
  float* h_count = new float[N];
  float* h_loss = new float[N];
  read_binary("data/log_rate.bin", h_log_rate, N);
  read_binary("data/count.bin", h_count, N);

  float* d_log_rate;
  float* d_count;
  float* d_loss;
  cudaMalloc(&d_log_rate, N * sizeof(float));
  cudaMalloc(&d_count, N * sizeof(float));
  cudaMalloc(&d_loss, N * sizeof(float));

  cudaMemcpy(d_log_rate, h_log_rate, N * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemcpy(d_count, h_count, N * sizeof(float), cudaMemcpyHostToDevice);

  const int threads = 256;
  const int blocks = (N + threads - 1) / threads;
  poisson_loss<<<blocks, threads>>>(d_log_rate, d_count, d_loss, N);
  cudaError_t err = cudaGetLastError();
  if (err != cudaSuccess) {
    std::cerr << "kernel failed: " << cudaGetErrorString(err) << std::endl;
    return 1;
  }

  cudaMemcpy(h_loss, d_loss, N * sizeof(float), cudaMemcpyDeviceToHost);
  write_binary("data/loss.bin", h_loss, N);

  cudaFree(d_log_rate);
  cudaFree(d_count);
  cudaFree(d_loss);
  delete[] h_log_rate;
  delete[] h_count;
  delete[] h_loss;
  return 0;
}
