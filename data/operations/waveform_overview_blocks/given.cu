#define TRACKS 3
#define SAMPLES 9999
#define BLOCKS ((SAMPLES + 499) / 500)

__global__ void overview(const float* audio, float* low, float* high, float* level) {
  int b = blockIdx.x * blockDim.x + threadIdx.x;
  int track = blockIdx.y;
  if (b >= BLOCKS) return;
  const float* x = audio + track * SAMPLES;
  int first = b * 500;
  int last = min(first + 500, SAMPLES);
  float lowest = x[first];
  float highest = x[first];
  float squares = 0.0f;
  for (int t = first; t < last; ++t) {
    lowest = fminf(lowest, x[t]);
    highest = fmaxf(highest, x[t]);
    squares += x[t] * x[t];
  }
  low[track * BLOCKS + b] = lowest;
  high[track * BLOCKS + b] = highest;
  level[track * BLOCKS + b] = sqrtf(squares / (last - first));
}

int main() {
  const int audio_count = TRACKS * SAMPLES;
  const int numel = TRACKS * BLOCKS;

  float* h_audio = new float[audio_count];
  float* h_low = new float[numel];
  float* h_high = new float[numel];
  float* h_level = new float[numel];
  read_binary("data/audio.bin", h_audio, audio_count);

  float* d_audio;
  cudaMalloc(&d_audio, audio_count * sizeof(float));
  cudaMemcpy(d_audio, h_audio, audio_count * sizeof(float), cudaMemcpyHostToDevice);
  float* d_low;
  cudaMalloc(&d_low, numel * sizeof(float));
  float* d_high;
  cudaMalloc(&d_high, numel * sizeof(float));
  float* d_level;
  cudaMalloc(&d_level, numel * sizeof(float));

  dim3 grid((BLOCKS + 127) / 128, TRACKS);
  overview<<<grid, 128>>>(d_audio, d_low, d_high, d_level);
  cudaError_t status = cudaGetLastError();
  if (status == cudaSuccess) status = cudaDeviceSynchronize();
  if (status != cudaSuccess) {
    std::cerr << "CUDA error: " << cudaGetErrorString(status) << std::endl;
    return 1;
  }

  cudaMemcpy(h_low, d_low, numel * sizeof(float), cudaMemcpyDeviceToHost);
  write_binary("data/low.bin", h_low, numel);
  cudaMemcpy(h_high, d_high, numel * sizeof(float), cudaMemcpyDeviceToHost);
  write_binary("data/high.bin", h_high, numel);
  cudaMemcpy(h_level, d_level, numel * sizeof(float), cudaMemcpyDeviceToHost);
  write_binary("data/level.bin", h_level, numel);

  delete[] h_audio;
  delete[] h_low;
  delete[] h_high;
  delete[] h_level;
  cudaFree(d_audio);
  cudaFree(d_low);
  cudaFree(d_high);
  cudaFree(d_level);
  return 0;
}
