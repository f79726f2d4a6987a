#include <cuda_runtime.h>
#include <stdio.h>
#include <stdlib.h>

const int CLIPS = 2;
const int COUNT = 40;

#define gpuErrchk(expr) do { cudaError_t e = (expr); if (e != cudaSuccess) { \
  fprintf(stderr, "CUDA error %s in line %d\n", cudaGetErrorString(e), __LINE__); exit(EXIT_FAILURE); } } while (0)

const int FRAME = 256;
const int HOP = 64;
const int LENGTH = COUNT * 64 + 192;

__global__ void overlap_add(const float* frames, float* audio) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= CLIPS * LENGTH) return;
  int c = i / LENGTH;
  int t = i % LENGTH;
  float sum = 0.0f, weight = 0.0f;
  int newest = t / HOP;
  for (int f = newest; f > newest - FRAME / HOP && f >= 0; f--) {
    if (f >= COUNT) continue;
    int n = t - f * HOP;
    float w = sinf(3.14159265f * (n + 0.5f) / FRAME);
    sum += w * frames[(c * COUNT + f) * FRAME + n];
    weight += w * w;
  }
  audio[i] = sum / fmaxf(weight, 0.05f);
}

int main() {
  const size_t frames_bytes = CLIPS * COUNT * 256 * sizeof(float);
  const size_t audio_bytes = CLIPS * LENGTH * sizeof(float);
  float *host_frames = (float*)malloc(frames_bytes);
  float *host_audio = (float*)malloc(audio_bytes);

  FILE* f_frames = fopen("data/frames.bin", "rb");
  if (!f_frames || fread(host_frames, sizeof(float), CLIPS * COUNT * 256,
          f_frames) != (size_t)(CLIPS * COUNT * 256)) {
    fprintf(stderr, "error reading data/frames.bin\n");
    return 1;
  }
  fclose(f_frames);

  float *d_frames;
  gpuErrchk(cudaMalloc(&d_frames, frames_bytes));
  float *d_audio;
  gpuErrchk(cudaMalloc(&d_audio, audio_bytes));
  gpuErrchk(cudaMemcpy(d_frames, host_frames, frames_bytes, cudaMemcpyHostToDevice));

  overlap_add<<<(CLIPS * LENGTH + 255) / 256, 256>>>(d_frames, d_audio);
  gpuErrchk(cudaGetLastError());

  gpuErrchk(cudaMemcpy(host_audio, d_audio, audio_bytes, cudaMemcpyDeviceToHost));
  FILE* out = fopen("data/audio.bin", "wb");
  if (!out || fwrite(host_audio, sizeof(float), CLIPS * LENGTH, out) != (size_t)(CLIPS * LENGTH)) {
    fprintf(stderr, "cannot write data/audio.bin\n");
    return 1;
  }
  fclose(out);

  cudaFree(d_frames);
  cudaFree(d_audio);
  free(host_frames);
  free(host_audio);
  return 0;
}
