const int MICRO = 4;
const int N = 5000;

__global__ void mark_sound(const float* grads, int* used, int n) {
  __shared__ int overflow;
  if (threadIdx.x == 0) overflow = 0;
  __syncthreads();
  const float* row = grads + (size_t)blockIdx.x * n;
  for (int i = threadIdx.x; i < n; i += blockDim.x) {
    if (fabsf(row[i]) > 65504.0f) overflow = 1;
  }
  __syncthreads();
  if (threadIdx.x == 0) used[blockIdx.x] = overflow ? 0 : 1;
}

__global__ void average_sound(const float* grads, const float* loss_scale, const int* used,
                              float* mean_grad, int micro, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float sum = 0.0f;
  int sound = 0;
  for (int j = 0; j < micro; ++j) {
    if (used[j] == 1) {
      sum += grads[(size_t)j * n + i];
      ++sound;
    }
  }
  mean_grad[i] = sound > 0 ? sum / (loss_scale[0] * sound) : 0.0f;
}

int main() {
  float* h_grads = new float[MICRO * N];
  float* h_loss_scale = new float[1];
  read_binary("data/grads.bin", h_grads, MICRO * N);
  read_binary("data/loss_scale.bin", h_loss_scale, 1);

  float *d_grads, *d_loss_scale, *d_mean_grad;
  int *d_used;
  cudaMalloc(&d_grads, MICRO * N * sizeof(float));
  cudaMalloc(&d_loss_scale, sizeof(float));
  cudaMalloc(&d_mean_grad, N * sizeof(float));
  cudaMalloc(&d_used, MICRO * sizeof(int));
  cudaMemcpy(d_grads, h_grads, MICRO * N * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemcpy(d_loss_scale, h_loss_scale, sizeof(float), cudaMemcpyHostToDevice);

  mark_sound<<<MICRO, 256>>>(d_grads, d_used, N);
  const int threads = 256;
  const int blocks = (N + threads - 1) / threads;
  average_sound<<<blocks, threads>>>(d_grads, d_loss_scale, d_used, d_mean_grad, MICRO, N);
  cudaError_t err = cudaDeviceSynchronize();
  if (err != cudaSuccess) {
    std::cerr << "error: " << cudaGetErrorString(err) << "\n";
    return 1;
  }

  float* h_mean_grad = new float[N];
  cudaMemcpy(h_mean_grad, d_mean_grad, N * sizeof(float), cudaMemcpyDeviceToHost);
  write_binary("data/mean_grad.bin", h_mean_grad, N);
  int* h_used = new int[MICRO];
  cudaMemcpy(h_used, d_used, MICRO * sizeof(int), cudaMemcpyDeviceToHost);
  write_binary("data/used.bin", reinterpret_cast<const float*>(h_used), MICRO);

  cudaFree(d_grads);
  delete[] h_grads;
  cudaFree(d_loss_scale);
  delete[] h_loss_scale;
  cudaFree(d_mean_grad);
  delete[] h_mean_grad;
  cudaFree(d_used);
  delete[] h_used;
  return 0;
}
