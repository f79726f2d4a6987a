constexpr int kBatch = 2;
constexpr int kChannels = 8;
constexpr int kPlane = 784;

__device__ float block_sum(float v, float* buf) {
  buf[threadIdx.x] = v;
  __syncthreads();
  for (int s = blockDim.x / 2; s > 0; s >>= 1) {
    if (threadIdx.x < s) buf[threadIdx.x] += buf[threadIdx.x + s];
    __syncthreads();
  }
  float total = buf[0];
  __syncthreads();
  return total;
}

__global__ void energy_gate(const float* x, float* y, int plane) {
  __shared__ float buf[256];
  const float* in = x + (size_t)blockIdx.x * plane;
  float* out = y + (size_t)blockIdx.x * plane;
  float sum = 0.0f;
  for (int i = threadIdx.x; i < plane; i += blockDim.x) sum += in[i];
  float mean = block_sum(sum, buf) / plane;
  float squares = 0.0f;
  for (int i = threadIdx.x; i < plane; i += blockDim.x) {
    float d = in[i] - mean;
    squares += d * d;
  }
  float var = block_sum(squares, buf) / (plane - 1);
  for (int i = threadIdx.x; i < plane; i += blockDim.x) {
    float d = in[i] - mean;
    float e = d * d / (4.0f * (var + 1e-4f)) + 0.5f;
    out[i] = in[i] / (1.0f + expf(-e));
  }
}

int main() {
  int numel = kBatch * kChannels * kPlane;
  std::vector<float> h_x(numel);
  std::vector<float> h_y(numel);
  read_binary("data/x.bin", h_x.data(), numel);

  float *d_x, *d_y;
  cudaMalloc(&d_x, numel * sizeof(float));
  cudaMemcpy(d_x, h_x.data(), numel * sizeof(float), cudaMemcpyHostToDevice);
  cudaMalloc(&d_y, numel * sizeof(float));

  energy_gate<<<kBatch * kChannels, 256>>>(d_x, d_y, kPlane);
  cudaError_t err = cudaGetLastError();
  if (err == cudaSuccess) err = cudaDeviceSynchronize();
  if (err != cudaSuccess) {
    std::cerr << "error in the kernel: " << cudaGetErrorString(err) << '\n';
    return 1;
  }

  cudaMemcpy(h_y.data(), d_y, numel * sizeof(float), cudaMemcpyDeviceToHost);
  write_binary("data/y.bin", h_y.data(), numel);

  cudaFree(d_x);
  cudaFree(d_y);

  return 0;
}
