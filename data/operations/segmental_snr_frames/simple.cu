#include <fstream>
#include <iostream>
#include <vector>
#include <cuda_runtime.h>

const int CLIPS = 8;
const int FRAMES = 20;

#define FRAME 160

__global__ void frame_snr(const float* clean, const float* degraded, float* snr) {
  int f = blockIdx.x * blockDim.x + threadIdx.x;
  if (f >= CLIPS * FRAMES) return;
  float s = 0.0f, n = 0.0f;
  for (int i = f * FRAME; i < (f + 1) * FRAME; i++) {
    float d = clean[i] - degraded[i];
    s += clean[i] * clean[i];
    n += d * d;
  }
  float db = 10.0f * log10f((s + 1e-6f) / (n + 1e-6f));
  snr[f] = fminf(fmaxf(db, -10.0f), 35.0f);
}

__global__ void clip_mean(const float* snr, float* mean_snr) {
  int c = blockIdx.x * blockDim.x + threadIdx.x;
  if (c >= CLIPS) return;
  float sum = 0.0f;
  for (int f = 0; f < FRAMES; f++) sum += snr[c * FRAMES + f];
  mean_snr[c] = sum / FRAMES;
}

int main() {
  std::vector<float> h_clean(CLIPS * FRAMES * 160);
  std::vector<float> h_degraded(CLIPS * FRAMES * 160);
  std::vector<float> h_snr(CLIPS * FRAMES);
  std::vector<float> h_mean_snr(CLIPS);
  std::ifstream file_clean("data/clean.bin", std::ios::binary);
  if (!file_clean.read(reinterpret_cast<char*>(h_clean.data()), sizeof(float) * CLIPS * FRAMES * 160)) {
    std::cerr << "cannot read data/clean.bin" << std::endl;
    return 1;
  }
  std::ifstream file_degraded("data/degraded.bin", std::ios::binary);
  file_degraded.read(reinterpret_cast<char*>(h_degraded.data()), sizeof(float) * CLIPS * FRAMES * 160);
  if (!file_degraded) {
    std::cerr << "cannot read data/degraded.bin" << std::endl;
    return 1;
  }

  float* d_clean = nullptr;
  cudaMalloc(&d_clean, sizeof(float) * CLIPS * FRAMES * 160);
  float* d_degraded = nullptr;
  cudaMalloc(&d_degraded, sizeof(float) * CLIPS * FRAMES * 160);
  float* d_snr = nullptr;
  cudaMalloc(&d_snr, sizeof(float) * CLIPS * FRAMES);
  float* d_mean_snr = nullptr;
  cudaMalloc(&d_mean_snr, sizeof(float) * CLIPS);
  cudaMemcpy(d_clean, h_clean.data(), sizeof(float) * CLIPS * FRAMES * 160, cudaMemcpyHostToDevice);
  cudaMemcpy(d_degraded, h_degraded.data(), sizeof(float) * CLIPS * FRAMES * 160, cudaMemcpyHostToDevice);

  frame_snr<<<(CLIPS * FRAMES + 127) / 128, 128>>>(d_clean, d_degraded, d_snr);
  clip_mean<<<(CLIPS + 127) / 128, 128>>>(d_snr, d_mean_snr);
  cudaError_t status = cudaDeviceSynchronize();
  if (status != cudaSuccess) {
    std::cerr << "kernel failed: " << cudaGetErrorString(status) << std::endl;
    return 1;
  }

  cudaMemcpy(h_snr.data(), d_snr, sizeof(float) * CLIPS * FRAMES, cudaMemcpyDeviceToHost);
  cudaMemcpy(h_mean_snr.data(), d_mean_snr, sizeof(float) * CLIPS, cudaMemcpyDeviceToHost);
  std::ofstream out_snr("data/snr.bin", std::ios::binary);
  out_snr.write(reinterpret_cast<char*>(h_snr.data()), sizeof(float) * CLIPS * FRAMES);
  std::ofstream out_mean_snr("data/mean_snr.bin", std::ios::binary);
  out_mean_snr.write(reinterpret_cast<char*>(h_mean_snr.data()), sizeof(float) * CLIPS);

  cudaFree(d_clean);
  cudaFree(d_degraded);
  cudaFree(d_snr);
  cudaFree(d_mean_snr);
}
