const int SAMPLES = 128;
const int LABELS = 80;

__device__ float entry_loss(float x, unsigned char target) {
  float p = 1.0f / (1.0f + expf(-x));
  if (target) return -(1.0f - p) * logf(fmaxf(p, 1e-8f));
  float pm = fmaxf(p - 0.05f, 0.0f);
  float pm2 = pm * pm;
  return -pm2 * pm2 * logf(fmaxf(1.0f - pm, 1e-8f));
}

__global__ void asymmetric_rows(const float* logits, const unsigned char* targets, float* loss, int labels) {
  __shared__ float partial[128];
  int t = threadIdx.x;
  size_t start = (size_t)blockIdx.x * labels;
  float sum = 0.0f;
  for (int k = t; k < labels; k += 128) sum += entry_loss(logits[start + k], targets[start + k]);
  partial[t] = sum;
  __syncthreads();
  for (int s = 64; s > 0; s >>= 1) {
    if (t < s) partial[t] += partial[t + s];
    __syncthreads();
  }
  if (t == 0) loss[blockIdx.x] = partial[0];
}

int main() {
  const int n = SAMPLES * LABELS;
  const size_t targets_floats = (n + 3) / 4;

  std::vector<float> h_logits(n);
  std::vector<unsigned char> h_targets(4 * targets_floats);
  read_binary("data/logits.bin", h_logits.data(), n);
  read_binary("data/targets.bin", reinterpret_cast<float*>(h_targets.data()), targets_floats);

  float *d_logits, *d_loss;
  unsigned char *d_targets;
  cudaMalloc(&d_logits, n * sizeof(float));
  cudaMalloc(&d_targets, n * sizeof(unsigned char));
  cudaMalloc(&d_loss, SAMPLES * sizeof(float));
  cudaMemcpy(d_logits, h_logits.data(), n * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemcpy(d_targets, h_targets.data(), n * sizeof(unsigned char), cudaMemcpyHostToDevice);

  dim3 block(128);
  dim3 grid(SAMPLES);
  asymmetric_rows<<<grid, block>>>(d_logits, d_targets, d_loss, LABELS);
  cudaError_t err = cudaDeviceSynchronize();
  if (err != cudaSuccess) {
    std::cerr << "asymmetric kernel: " << cudaGetErrorString(err) << "\n";
    return 1;
  }

  std::vector<float> h_loss(SAMPLES);
  cudaMemcpy(h_loss.data(), d_loss, SAMPLES * sizeof(float), cudaMemcpyDeviceToHost);
  write_binary("data/loss.bin", h_loss.data(), SAMPLES);

  cudaFree(d_loss);
  cudaFree(d_targets);
  cudaFree(d_logits);
  return 0;
}
