const int BATCH = 2;
const int PIXELS = 196;
const int CHANNELS = 64;

__global__ void channel_norms(const float* x, float* norms, int pixels, int channels) {
  int c = blockIdx.x * blockDim.x + threadIdx.x;
  int b = blockIdx.y;
  if (c >= channels) return;
  float sum = 0.0f;
  for (int p = 0; p < pixels; p++) {
    float v = x[((size_t)b * pixels + p) * channels + c];
    sum += v * v;
  }
  norms[b * channels + c] = sqrtf(sum);
}

__global__ void mean_norms(const float* norms, float* means, int batch, int channels) {
  int b = blockIdx.x * blockDim.x + threadIdx.x;
  if (b >= batch) return;
  float sum = 0.0f;
  for (int c = 0; c < channels; c++) sum += norms[b * channels + c];
  means[b] = sum / channels;
}

__global__ void apply(const float* x, const float* gamma, const float* beta, const float* norms,
                      const float* means, float* y, int batch, int pixels, int channels) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= batch * pixels * channels) return;
  int c = i % channels;
  int b = i / (pixels * channels);
  float n = norms[b * channels + c] / (means[b] + 1e-6f);
  y[i] = gamma[c] * x[i] * n + beta[c] + x[i];
}

int main() {
  const int count = BATCH * PIXELS * CHANNELS;

  std::vector<float> h_x(count);
  std::vector<float> h_gamma(CHANNELS);
  std::vector<float> h_beta(CHANNELS);
  std::vector<float> h_y(count);
  read_binary("data/x.bin", h_x.data(), count);
  read_binary("data/gamma.bin", h_gamma.data(), CHANNELS);
  read_binary("data/beta.bin", h_beta.data(), CHANNELS);

  float* d_x;
  float* d_gamma;
  float* d_beta;
  float* d_y;
  cudaMalloc(&d_x, sizeof(float) * count);
  cudaMalloc(&d_gamma, sizeof(float) * CHANNELS);
  cudaMalloc(&d_beta, sizeof(float) * CHANNELS);
  cudaMalloc(&d_y, sizeof(float) * count);
  cudaMemcpy(d_x, h_x.data(), sizeof(float) * count, cudaMemcpyHostToDevice);
  cudaMemcpy(d_gamma, h_gamma.data(), sizeof(float) * CHANNELS, cudaMemcpyHostToDevice);
  cudaMemcpy(d_beta, h_beta.data(), sizeof(float) * CHANNELS, cudaMemcpyHostToDevice);
  float* d_norms;
  cudaMalloc(&d_norms, BATCH * CHANNELS * sizeof(float));
  float* d_means;
  cudaMalloc(&d_means, BATCH * sizeof(float));

  const int threads = 256;
  dim3 grid((CHANNELS + threads - 1) / threads, BATCH);
  channel_norms<<<grid, threads>>>(d_x, d_norms, PIXELS, CHANNELS);
  mean_norms<<<(BATCH + threads - 1) / threads, threads>>>(d_norms, d_means, BATCH, CHANNELS);
  apply<<<(count + threads - 1) / threads, threads>>>(d_x, d_gamma, d_beta, d_norms, d_means,
          d_y, BATCH, PIXELS, CHANNELS);
  cudaError_t err = cudaDeviceSynchronize();
  if (err != cudaSuccess) {
    std::cerr << "kernel launch failed: " << cudaGetErrorString(err) << std::endl;
    return 1;
  }

  cudaMemcpy(h_y.data(), d_y, sizeof(float) * count, cudaMemcpyDeviceToHost);
  write_binary("data/y.bin", h_y.data(), count);

  cudaFree(d_x);
  cudaFree(d_gamma);
  cudaFree(d_beta);
  cudaFree(d_y);
  cudaFree(d_norms);
  cudaFree(d_means);
  return 0;
}
