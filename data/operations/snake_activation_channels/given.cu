const int BATCH = 2;
const int CHANNELS = 6;
const int LENGTH = 1000;

__global__ void snake_kernel(const float* x, const float* freq, float* y, int channels, int length) {
  int t = blockIdx.x * blockDim.x + threadIdx.x;
  int plane = blockIdx.y;
  if (t >= length) return;
  float f = freq[plane % channels];
  float v = x[plane * length + t];
  float s = sinf(f * v);
  y[plane * length + t] = v + s * s / f;
}

int main() {
  float* h_x = new float[BATCH * CHANNELS * LENGTH];
  read_binary("data/x.bin", h_x, BATCH * CHANNELS * LENGTH);
  float* d_x;
  cudaMalloc(&d_x, BATCH * CHANNELS * LENGTH * sizeof(float));
  cudaMemcpy(d_x, h_x, BATCH * CHANNELS * LENGTH * sizeof(float), cudaMemcpyHostToDevice);

  float* h_freq = new float[CHANNELS];
  read_binary("data/freq.bin", h_freq, CHANNELS);
  float* d_freq;
  cudaMalloc(&d_freq, CHANNELS * sizeof(float));
  cudaMemcpy(d_freq, h_freq, CHANNELS * sizeof(float), cudaMemcpyHostToDevice);

  float* h_y = new float[BATCH * CHANNELS * LENGTH];
  float* d_y;
  cudaMalloc(&d_y, BATCH * CHANNELS * LENGTH * sizeof(float));

  int threadsPerBlock = 256;
  dim3 grid((LENGTH + threadsPerBlock - 1) / threadsPerBlock, BATCH * CHANNELS);
  snake_kernel<<<grid, threadsPerBlock>>>(d_x, d_freq, d_y, CHANNELS, LENGTH);
  cudaError_t status = cudaDeviceSynchronize();
  if (status != cudaSuccess) {
    std::cerr << "launch error: " << cudaGetErrorString(status) << std::endl;
    return 1;
  }

  cudaMemcpy(h_y, d_y, BATCH * CHANNELS * LENGTH * sizeof(float), cudaMemcpyDeviceToHost);
  write_binary("data/y.bin", h_y, BATCH * CHANNELS * LENGTH);

  delete[] h_x;
  delete[] h_freq;
  delete[] h_y;
  cudaFree(d_x);
  cudaFree(d_freq);
  cudaFree(d_y);
  return 0;
}
