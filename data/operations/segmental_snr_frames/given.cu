const int CLIPS = 8;
const int FRAMES = 20;
const int LENGTH = 160;

__global__ void frame_snr(const float* clean, const float* degraded, float* snr, int total) {
  int f = blockIdx.x * blockDim.x + threadIdx.x;
  if (f >= total) return;
  float signal = 0.0f;
  float noise = 0.0f;
  for (int i = f * LENGTH; i < (f + 1) * LENGTH; ++i) {
    float d = clean[i] - degraded[i];
    signal += clean[i] * clean[i];
    noise += d * d;
  }
  float db = 10.0f * log10f((signal + 1e-6f) / (noise + 1e-6f));
  snr[f] = fminf(fmaxf(db, -10.0f), 35.0f);
}

__global__ void mean_over_frames(const float* snr, float* mean_snr, int clips, int frames) {
  int c = blockIdx.x * blockDim.x + threadIdx.x;
  if (c >= clips) return;
  float sum = 0.0f;
  for (int f = 0; f < frames; ++f) sum += snr[c * frames + f];
  mean_snr[c] = sum / frames;
}

int main() {
  const int elements = CLIPS * FRAMES * 160;
  const int snr_count = CLIPS * FRAMES;

  float* h_clean = new float[elements];
  float* h_degraded = new float[elements];
  float* h_snr = new float[snr_count];
  float* h_mean_snr = new float[CLIPS];

  read_binary("data/clean.bin", h_clean, elements);
  read_binary("data/degraded.bin", h_degraded, elements);

  float *d_clean, *d_degraded, *d_snr, *d_mean_snr;
  cudaMalloc(&d_clean, elements * sizeof(float));
  cudaMalloc(&d_degraded, elements * sizeof(float));
  cudaMalloc(&d_snr, snr_count * sizeof(float));
  cudaMalloc(&d_mean_snr, CLIPS * sizeof(float));
  cudaMemcpy(d_clean, h_clean, elements * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemcpy(d_degraded, h_degraded, elements * sizeof(float), cudaMemcpyHostToDevice);

  const int threads = 128;
  frame_snr<<<(snr_count + threads - 1) / threads, threads>>>(d_clean, d_degraded, d_snr, snr_count);
  mean_over_frames<<<(CLIPS + threads - 1) / threads, threads>>>(d_snr, d_mean_snr, CLIPS, FRAMES);
  if (cudaGetLastError() != cudaSuccess) {
    std::cerr << "GPU error" << std::endl;
    return 1;
  }
  cudaDeviceSynchronize();

  cudaMemcpy(h_snr, d_snr, snr_count * sizeof(float), cudaMemcpyDeviceToHost);
  write_binary("data/snr.bin", h_snr, snr_count);
  cudaMemcpy(h_mean_snr, d_mean_snr, CLIPS * sizeof(float), cudaMemcpyDeviceToHost);
  write_binary("data/mean_snr.bin", h_mean_snr, CLIPS);

  cudaFree(d_clean);
  delete[] h_clean;
  cudaFree(d_degraded);
  delete[] h_degraded;
  cudaFree(d_snr);
  delete[] h_snr;
  cudaFree(d_mean_snr);
  delete[] h_mean_snr;
  return 0;
}
