#include <cuda_runtime.h>
#include <cstdio>
#include <cstdlib>

#define CHANNELS 4
#define SAMPLES 5000

#define gpuErrchk(call)                                                          \
  do {                                                                           \
    cudaError_t e = (call);                                                      \
    if (e != cudaSuccess) {                                                      \
      fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(e)); \
      exit(1);                                                                   \
    }                                                                            \
  } while (0)

static void readInput(const char* path, void* dst, size_t bytes) {
  FILE* f = fopen(path, "rb");
  if (!f || fread(dst, 1, bytes, f) != bytes) {
    fprintf(stderr, "error reading %s\n", path);
    exit(1);
  }
  fclose(f);
}

static void writeOutput(const char* path, const void* src, size_t bytes) {
  FILE* f = fopen(path, "wb");
  if (!f || fwrite(src, 1, bytes, f) != bytes) {
    fprintf(stderr, "cannot write %s\n", path);
    exit(1);
  }
  fclose(f);
}

const int FRAME = 400;
const int HOP = 160;
const int FRAMES = (SAMPLES - 400) / 160 + 1;

__global__ void zero_crossings(const float* audio, float* rate) {
  int id = blockIdx.x * blockDim.x + threadIdx.x;
  if (id >= CHANNELS * FRAMES) return;
  int c = id / FRAMES;
  int f = id % FRAMES;
  const float* frame = audio + (size_t)c * SAMPLES + f * HOP;
  int count = 0;
  for (int t = 1; t < FRAME; t++) {
    if ((frame[t] < 0.0f) != (frame[t - 1] < 0.0f)) count++;
  }
  rate[id] = (float)count / (FRAME - 1);
}

int main() {
  const size_t n_audio = CHANNELS * SAMPLES;
  const size_t num_rate = CHANNELS * FRAMES;
  float* h_audio = (float*)malloc(n_audio * sizeof(float));
  float* h_rate = (float*)malloc(num_rate * sizeof(float));

  readInput("data/audio.bin", h_audio, n_audio * sizeof(float));

  float* dev_audio;
  gpuErrchk(cudaMalloc(&dev_audio, n_audio * sizeof(float)));
  float* dev_rate;
  gpuErrchk(cudaMalloc(&dev_rate, num_rate * sizeof(float)));
  gpuErrchk(cudaMemcpy(dev_audio, h_audio, n_audio * sizeof(float), cudaMemcpyHostToDevice));

  int threads = 128;
  int blocks = (CHANNELS * FRAMES + 127) / 128;
  zero_crossings<<<blocks, threads>>>(dev_audio, dev_rate);
  gpuErrchk(cudaGetLastError());
  gpuErrchk(cudaDeviceSynchronize());

  gpuErrchk(cudaMemcpy(h_rate, dev_rate, num_rate * sizeof(float), cudaMemcpyDeviceToHost));
  writeOutput("data/rate.bin", h_rate, num_rate * sizeof(float));

  cudaFree(dev_audio);
  cudaFree(dev_rate);
  free(h_audio);
  free(h_rate);
  return 0;
}
