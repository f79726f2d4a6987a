const int BATCH = 3;
const int CHANNELS = 3;
const int HEIGHT = 40;
const int WIDTH = 37;

__global__ void charbonnier_mean(const float* output, const float* clean, float* loss, int image_size) {
  __shared__ float partial[256];
  int tid = threadIdx.x;
  size_t start = (size_t)blockIdx.x * image_size;
  float sum = 0.0f;
  for (int i = tid; i < image_size; i += blockDim.x) {
    float diff = output[start + i] - clean[start + i];
    sum += sqrtf(diff * diff + 0.01f * 0.01f);
  }
  partial[tid] = sum;
  __syncthreads();
  for (int stride = blockDim.x / 2; stride > 0; stride >>= 1) {
    if (tid < stride) partial[tid] += partial[tid + stride];
    __syncthreads();
  }
  if (tid == 0) loss[blockIdx.x] = partial[0] / image_size;
}

int main() {
  const int image_size = CHANNELS * HEIGHT * WIDTH;
  int count = BATCH * image_size;
  const size_t size_bytes = count * sizeof(float);

  std::vector<float> h_output(count);
  read_binary("data/output.bin", h_output.data(), count);
  std::vector<float> h_clean(count);
  read_binary("data/clean.bin", h_clean.data(), count);
  std::vector<float> h_loss(BATCH);

  float* d_output = nullptr;
  float* d_clean = nullptr;
  float* d_loss = nullptr;
  cudaMalloc(&d_output, size_bytes);
  cudaMemcpy(d_output, h_output.data(), size_bytes, cudaMemcpyHostToDevice);
  cudaMalloc(&d_clean, size_bytes);
  cudaMemcpy(d_clean, h_clean.data(), size_bytes, cudaMemcpyHostToDevice);
  cudaMalloc(&d_loss, BATCH * sizeof(float));

  charbonnier_mean<<<BATCH, 256>>>(d_output, d_clean, d_loss, image_size);
  cudaError_t error = cudaGetLastError();
  if (error != cudaSuccess) {
    std::cerr << "launch error: " << cudaGetErrorString(error) << '\n';
    return 1;
  }
  cudaDeviceSynchronize();

  cudaMemcpy(h_loss.data(), d_loss, BATCH * sizeof(float), cudaMemcpyDeviceToHost);
  write_binary("data/loss.bin", h_loss.data(), BATCH);

  cudaFree(d_output);
  cudaFree(d_clean);
  cudaFree(d_loss);
  return 0;
}
