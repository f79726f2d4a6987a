constexpr int BATCH = 20;
constexpr int CHANNELS = 300;

__global__ void filter_step(const float* state, const float* x, const float* taps, const float* bias,
                            float* y, float* next_state, int batch, int channels) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= batch * channels) return;
  int c = i % channels;
  float z = bias[c];
  for (int k = 0; k < 4; k++) {
    float v = k < 3 ? state[4 * i + k + 1] : x[i];
    next_state[4 * i + k] = v;
    z += taps[4 * c + k] * v;
  }
  y[i] = z / (1.0f + expf(-z));
}

int main() {
  int state_count = BATCH * CHANNELS * 4;
  int x_count = BATCH * CHANNELS;
  int taps_count = CHANNELS * 4;

  std::vector<float> h_state(state_count);
  read_binary("data/state.bin", h_state.data(), state_count);
  std::vector<float> h_x(x_count);
  read_binary("data/x.bin", h_x.data(), x_count);
  std::vector<float> h_taps(taps_count);
  read_binary("data/taps.bin", h_taps.data(), taps_count);
  std::vector<float> h_bias(CHANNELS);
  read_binary("data/bias.bin", h_bias.data(), CHANNELS);
  std::vector<float> h_y(x_count);
  std::vector<float> h_next_state(state_count);

  float* d_state = nullptr;
  cudaMalloc(&d_state, sizeof(float) * state_count);
  float* d_x = nullptr;
  cudaMalloc(&d_x, sizeof(float) * x_count);
  float* d_taps = nullptr;
  cudaMalloc(&d_taps, sizeof(float) * taps_count);
  float* d_bias = nullptr;
  cudaMalloc(&d_bias, sizeof(float) * CHANNELS);
  float* d_y = nullptr;
  cudaMalloc(&d_y, sizeof(float) * x_count);
  float* d_next_state = nullptr;
  cudaMalloc(&d_next_state, sizeof(float) * state_count);

  cudaMemcpy(d_state, h_state.data(), sizeof(float) * state_count, cudaMemcpyHostToDevice);
  cudaMemcpy(d_x, h_x.data(), sizeof(float) * x_count, cudaMemcpyHostToDevice);
  cudaMemcpy(d_taps, h_taps.data(), sizeof(float) * taps_count, cudaMemcpyHostToDevice);
  cudaMemcpy(d_bias, h_bias.data(), sizeof(float) * CHANNELS, cudaMemcpyHostToDevice);

  int threadsPerBlock = 256;
  int numBlocks = (x_count + threadsPerBlock - 1) / threadsPerBlock;
  filter_step<<<numBlocks, threadsPerBlock>>>(d_state, d_x, d_taps, d_bias, d_y, d_next_state,
                                              BATCH, CHANNELS);
  cudaError_t err = cudaDeviceSynchronize();
  if (err != cudaSuccess) {
    std::cerr << "CUDA error: " << cudaGetErrorString(err) << std::endl;
    return 1;
  }

  cudaMemcpy(h_y.data(), d_y, sizeof(float) * x_count, cudaMemcpyDeviceToHost);
  cudaMemcpy(h_next_state.data(), d_next_state, sizeof(float) * state_count, cudaMemcpyDeviceToHost);
  write_binary("data/y.bin", h_y.data(), x_count);
  write_binary("data/next_state.bin", h_next_state.data(), state_count);
  cudaFree(d_state);
  cudaFree(d_x);
  cudaFree(d_taps);
  cudaFree(d_bias);
  cudaFree(d_y);
  cudaFree(d_next_state);

  return 0;
}
