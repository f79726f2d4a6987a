constexpr int kSymbols = 30;
constexpr int kTicks = 400;
constexpr int kWindow = 20;

__global__ void trailing_vwap(const float* price, const float* volume, float* vwap, float* deviation, int ticks) {
  int t = blockIdx.x * blockDim.x + threadIdx.x;
  if (t >= ticks) return;
  size_t row = (size_t)blockIdx.y * ticks;
  int first = max(0, t - kWindow + 1);
  float total = 0.0f, weighted = 0.0f;
  for (int k = first; k <= t; k++) {
    total += volume[row + k];
    weighted += volume[row + k] * price[row + k];
  }
  float mean = total > 0.0f ? weighted / total : price[row + t];
  float squares = 0.0f;
  for (int k = first; k <= t; k++) {
    float d = price[row + k] - mean;
    squares += volume[row + k] * d * d;
  }
  vwap[row + t] = mean;
  deviation[row + t] = total > 0.0f ? sqrtf(squares / total) : 0.0f;
}

int main() {
  const int numel = kSymbols * kTicks;

  float* h_price = new float[numel];
  float* h_volume = new float[numel];
  float* h_vwap = new float[numel];
  float* h_deviation = new float[numel];
  read_binary("data/price.bin", h_price, numel);
  read_binary("data/volume.bin", h_volume, numel);

  float *d_price, *d_volume, *d_vwap, *d_deviation;
  cudaMalloc(&d_price, numel * sizeof(float));
  cudaMalloc(&d_volume, numel * sizeof(float));
  cudaMalloc(&d_vwap, numel * sizeof(float));
  cudaMalloc(&d_deviation, numel * sizeof(float));

  cudaMemcpy(d_price, h_price, numel * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemcpy(d_volume, h_volume, numel * sizeof(float), cudaMemcpyHostToDevice);

  const int threads = 128;
  dim3 grid((kTicks + threads - 1) / threads, kSymbols);
  trailing_vwap<<<grid, threads>>>(d_price, d_volume, d_vwap, d_deviation, kTicks);
  cudaError_t err = cudaDeviceSynchronize();
  if (err != cudaSuccess) {
    std::cerr << "device error: " << cudaGetErrorString(err) << std::endl;
    return 1;
  }

  cudaMemcpy(h_vwap, d_vwap, numel * sizeof(float), cudaMemcpyDeviceToHost);
  cudaMemcpy(h_deviation, d_deviation, numel * sizeof(float), cudaMemcpyDeviceToHost);
  write_binary("data/vwap.bin", h_vwap, numel);
  write_binary("data/deviation.bin", h_deviation, numel);

  cudaFree(d_price);
  delete[] h_price;
  cudaFree(d_volume);
  delete[] h_volume;
  cudaFree(d_vwap);
  delete[] h_vwap;
  cudaFree(d_deviation);
  delete[] h_deviation;
  return 0;
}
