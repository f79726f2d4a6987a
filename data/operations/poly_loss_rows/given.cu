const int kRows = 200;
const int kClasses = 100;

__global__ void poly_loss(const float* logits, const int* labels, float* loss, int classes) {
  __shared__ float buf[256];
  int t = threadIdx.x;
  const float* x = logits + (size_t)blockIdx.x * classes;

  float top = -INFINITY;
  for (int k = t; k < classes; k += 256) top = fmaxf(top, x[k]);
  buf[t] = top;
  __syncthreads();
  for (int s = 128; s > 0; s /= 2) {
    if (t < s) buf[t] = fmaxf(buf[t], buf[t + s]);
    __syncthreads();
  }
  top = buf[0];
  __syncthreads();

  float sum = 0.0f;
  for (int k = t; k < classes; k += 256) sum += expf(x[k] - top);
  buf[t] = sum;
  __syncthreads();
  for (int s = 128; s > 0; s /= 2) {
    if (t < s) buf[t] += buf[t + s];
    __syncthreads();
  }
  if (t == 0) {
    float logp = x[labels[blockIdx.x]] - top - logf(buf[0]);
    loss[blockIdx.x] = -logp + 2.0f * (1.0f - expf(logp));
  }
}

int main() {
  size_t count = kRows * kClasses;

  float* h_logits = new float[count];
  int* h_labels = new int[kRows];
  float* h_loss = new float[kRows];
  read_binary("data/logits.bin", h_logits, count);
  read_binary("data/labels.bin", reinterpret_cast<float*>(h_labels), kRows);

  float* d_logits = nullptr;
  int* d_labels = nullptr;
  float* d_loss = nullptr;
  cudaMalloc(&d_logits, count * sizeof(float));
  cudaMalloc(&d_labels, kRows * sizeof(int));
  cudaMalloc(&d_loss, kRows * sizeof(float));

  cudaMemcpy(d_logits, h_logits, count * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemcpy(d_labels, h_labels, kRows * sizeof(int), cudaMemcpyHostToDevice);

  const int blocks = kRows;
  poly_loss<<<blocks, 256>>>(d_logits, d_labels, d_loss, kClasses);
  cudaError_t err = cudaDeviceSynchronize();
  if (err != cudaSuccess) {
    std::cerr << "error in the kernel: " << cudaGetErrorString(err) << std::endl;
    return 1;
  }

  cudaMemcpy(h_loss, d_loss, kRows * sizeof(float), cudaMemcpyDeviceToHost);
  write_binary("data/loss.bin", h_loss, kRows);

  delete[] h_logits;
  delete[] h_labels;
  delete[] h_loss;
  cudaFree(d_logits);
  cudaFree(d_labels);
  cudaFree(d_loss);
  return 0;
}
