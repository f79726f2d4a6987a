#define SAMPLES 3000
#define CHANNELS 6

__global__ void allpass(const float* x, const int* delay, const float* gain, float* y,
            int samples, int channels) {
  int c = blockIdx.x;
  int d = delay[c];
  float g = gain[c];
  // d samples at a time depend only on samples that are already there
  for (int start = 0; start < samples; start += d) {
    int end = min(start + d, samples);
    for (int t = start + threadIdx.x; t < end; t += blockDim.x) {
      float value = -g * x[t * channels + c];
      if (t >= d) {
        int past = (t - d) * channels + c;
        value += x[past] + g * y[past];
      }
      y[t * channels + c] = value;
    }
    __syncthreads();
  }
}

int main() {
  const size_t elements = SAMPLES * CHANNELS;

  float* h_x = new float[elements];
  read_binary("data/x.bin", h_x, elements);
  float* d_x = nullptr;
  cudaMalloc(&d_x, elements * sizeof(float));
  cudaMemcpy(d_x, h_x, elements * sizeof(float), cudaMemcpyHostToDevice);

  int* h_delay = new int[CHANNELS];
  read_binary("data/delay.bin", reinterpret_cast<float*>(h_delay), CHANNELS);
  int* d_delay = nullptr;
  cudaMalloc(&d_delay, sizeof(int) * CHANNELS);
  cudaMemcpy(d_delay, h_delay, sizeof(int) * CHANNELS, cudaMemcpyHostToDevice);

  float* h_gain = new float[CHANNELS];
  read_binary("data/gain.bin", h_gain, CHANNELS);
  float* d_gain = nullptr;
  cudaMalloc(&d_gain, sizeof(float) * CHANNELS);
  cudaMemcpy(d_gain, h_gain, sizeof(float) * CHANNELS, cudaMemcpyHostToDevice);

  float* h_y = new float[elements];
  float* d_y = nullptr;
  cudaMalloc(&d_y, elements * sizeof(float));

  allpass<<<CHANNELS, 256>>>(d_x, d_delay, d_gain, d_y, SAMPLES, CHANNELS);
  if (cudaGetLastError() != cudaSuccess) {
    std::cerr << "CUDA error" << std::endl;
    return 1;
  }
  cudaDeviceSynchronize();

  cudaMemcpy(h_y, d_y, elements * sizeof(float), cudaMemcpyDeviceToHost);
  write_binary("data/y.bin", h_y, elements);

  cudaFree(d_x);
  delete[] h_x;
  cudaFree(d_delay);
  delete[] h_delay;
  cudaFree(d_gain);
  delete[] h_gain;
  cudaFree(d_y);
  delete[] h_y;
  return 0;
}
