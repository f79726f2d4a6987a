#define N 12345

__global__ void mean_loss(const float* pred, const float* target, const float* weight, float* loss, int n) {
  __shared__ float sums[256];
  int t = threadIdx.x;
  float sum = 0.0f;
  for (int i = blockIdx.x * blockDim.x + t; i < n; i += gridDim.x * blockDim.x) {
    float r = pred[i] - target[i];
    sum += weight[i] * r * r / (r * r + 1.5f * 1.5f);
  }
  sums[t] = sum;
  __syncthreads();
  for (int s = 128; s > 0; s >>= 1) {
    if (t < s) sums[t] += sums[t + s];
    __syncthreads();
  }
  if (t == 0) atomicAdd(loss, sums[0] / n);
}

int main() {
  const size_t bytes = N * sizeof(float);

  float* h_pred = new float[N];
  float* h_target = new float[N];
  float* h_weight = new float[N];
  read_binary("data/pred.bin", h_pred, N);
  read_binary("data/target.bin", h_target, N);
  read_binary("data/weight.bin", h_weight, N);
  float* d_pred;
  float* d_target;
  float* d_weight;
  float* d_loss;
  cudaMalloc(&d_pred, bytes);
  cudaMalloc(&d_target, bytes);
  cudaMalloc(&d_weight, bytes);
  cudaMalloc(&d_loss, sizeof(float));
  cudaMemcpy(d_pred, h_pred, bytes, cudaMemcpyHostToDevice);
  cudaMemcpy(d_target, h_target, bytes, cudaMemcpyHostToDevice);
  cudaMemcpy(d_weight, h_weight, bytes, cudaMemcpyHostToDevice);

  cudaMemset(d_loss, 0, sizeof(float));
  mean_loss<<<128, 256>>>(d_pred, d_target, d_weight, d_loss, N);
  cudaError_t err = cudaGetLastError();
  if (err != cudaSuccess) {
    std::cerr << "kernel failed: " << cudaGetErrorString(err) << std::endl;
    return 1;
  }

  float* h_loss = new float[1];
  cudaMemcpy(h_loss, d_loss, sizeof(float), cudaMemcpyDeviceToHost);
  write_binary("data/loss.bin", h_loss, 1);

  cudaFree(d_pred);
  cudaFree(d_target);
  cudaFree(d_weight);
  cudaFree(d_loss);
  delete[] h_pred;
  delete[] h_target;
  delete[] h_weight;
  delete[] h_loss;
  return 0;
}
