#include <cuda_runtime.h>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>

void read_from(const std::string& path, float* dst, size_t size) {
  std::ifstream in(path, std::ios::binary);
  if (!in.read(reinterpret_cast<char*>(dst), size * sizeof(float))) {
    std::cerr << "cannot read " << path << '\n';
    std::exit(1);
  }
}

void write_to(const std::string& path, const float* src, size_t size) {
  std::ofstream out(path, std::ios::binary);
  out.write(reinterpret_cast<const char*>(src), size * sizeof(float));
}
//@given

constexpr int kClips = 2;
constexpr int kSamples = 4000;

constexpr int FRAME = 256;
constexpr int HOP = 96;
constexpr int FRAMES = (kSamples - 256) / 96 + 1;

__global__ void window_frames(const float* speech, float* frames, int total) {
  int idx = blockIdx.x * blockDim.x + threadIdx.x;
  if (idx >= total) return;
  int n = idx % FRAME;
  int f = (idx / FRAME) % FRAMES;
  int clip = idx / (FRAME * FRAMES);
  int t = f * HOP + n;
  const float* x = speech + clip * kSamples;
  float e = x[t];
  if (t > 0) e -= 0.97f * x[t - 1];
  float a = 6.2831853f * n / (FRAME - 1);
  frames[idx] = e * (0.42f - 0.5f * cosf(a) + 0.08f * cosf(2.0f * a));
}

int main() {
  float* h_speech = new float[kClips * kSamples];
  float* h_frames = new float[kClips * FRAMES * 256];
  read_from("data/speech.bin", h_speech, kClips * kSamples);

  float* d_speech;
  float* d_frames;
  cudaMalloc(&d_speech, kClips * kSamples * sizeof(float));
  cudaMalloc(&d_frames, kClips * FRAMES * 256 * sizeof(float));
  cudaMemcpy(d_speech, h_speech, kClips * kSamples * sizeof(float), cudaMemcpyHostToDevice);

  const int total = kClips * FRAMES * FRAME;
  window_frames<<<(total + 255) / 256, 256>>>(d_speech, d_frames, total);

  cudaMemcpy(h_frames, d_frames, kClips * FRAMES * 256 * sizeof(float), cudaMemcpyDeviceToHost);
  write_to("data/frames.bin", h_frames, kClips * FRAMES * 256);

  cudaFree(d_speech);
  cudaFree(d_frames);
  delete[] h_speech;
  delete[] h_frames;
  return 0;
}
