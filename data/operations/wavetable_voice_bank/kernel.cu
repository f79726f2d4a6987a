#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>
#include <cuda_runtime.h>

void read_from(const std::string& path, void* buffer, size_t bytes) {
  std::ifstream in(path, std::ios::binary);
  if (!in.read(static_cast<char*>(buffer), bytes)) {
    std::cerr << "could not load " << path << std::endl;
    std::exit(1);
  }
}

void write_to(const std::string& path, const void* buffer, size_t bytes) {
  std::ofstream out(path, std::ios::binary);
  out.write(static_cast<const char*>(buffer), bytes);
}
//@given

#define CEIL_DIV(a, b) (((a) + (b) - 1) / (b))
constexpr int VOICES = 12;
constexpr int SAMPLES = 1500;

const int VOICES_PER_BLOCK = 8;

// Each block copies the table, with its first entry repeated at the end, and serves eight voices.
__global__ void voice_bank(const float* __restrict__ table, const unsigned int* __restrict__ start,
                           const unsigned int* __restrict__ step, const float* __restrict__ volume,
                           const unsigned int* __restrict__ ticks, float* __restrict__ sound) {
  __shared__ float wave[1025];
  for (int k = threadIdx.x; k < 1025; k += blockDim.x) wave[k] = table[k % 1024];
  __syncthreads();
  const int t = blockIdx.x * blockDim.x + threadIdx.x;
  if (t >= SAMPLES) return;
  const unsigned int now = ticks[t];
  const int end = min((int)(blockIdx.y + 1) * VOICES_PER_BLOCK, VOICES);
  for (int v = blockIdx.y * VOICES_PER_BLOCK; v < end; ++v) {
    const unsigned int p = start[v] + now * step[v];
    const float* w = wave + (p >> 22);
    const float q = (p & 0x3fffffu) * (1.0f / 4194304.0f);
    sound[(size_t)v * SAMPLES + t] = volume[v] * fmaf(q, w[1] - w[0], w[0]);
  }
}

int main() {
  float* h_table = new float[1024];
  unsigned int* h_start = new unsigned int[VOICES];
  unsigned int* h_step = new unsigned int[VOICES];
  float* h_volume = new float[VOICES];
  unsigned int* h_ticks = new unsigned int[SAMPLES];
  float* h_sound = new float[VOICES * SAMPLES];
  read_from("data/table.bin", h_table, 1024 * sizeof(float));
  read_from("data/start.bin", h_start, VOICES * sizeof(unsigned int));
  read_from("data/step.bin", h_step, VOICES * sizeof(unsigned int));
  read_from("data/volume.bin", h_volume, VOICES * sizeof(float));
  read_from("data/ticks.bin", h_ticks, SAMPLES * sizeof(unsigned int));

  float* dev_table = nullptr;
  unsigned int* dev_start = nullptr;
  unsigned int* dev_step = nullptr;
  float* dev_volume = nullptr;
  unsigned int* dev_ticks = nullptr;
  float* dev_sound = nullptr;
  cudaMalloc(&dev_table, 1024 * sizeof(float));
  cudaMalloc((void**)&dev_start, VOICES * sizeof(unsigned int));
  cudaMalloc(&dev_step, VOICES * sizeof(unsigned int));
  cudaMalloc(&dev_volume, VOICES * sizeof(float));
  cudaMalloc((void**)&dev_ticks, SAMPLES * sizeof(unsigned int));
  cudaMalloc(&dev_sound, VOICES * SAMPLES * sizeof(float));
  cudaMemcpy(dev_table, h_table, 1024 * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemcpy(dev_start, h_start, VOICES * sizeof(unsigned int), cudaMemcpyHostToDevice);
  cudaMemcpy(dev_step, h_step, VOICES * sizeof(unsigned int), cudaMemcpyHostToDevice);
  cudaMemcpy(dev_volume, h_volume, VOICES * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemcpy(dev_ticks, h_ticks, SAMPLES * sizeof(unsigned int), cudaMemcpyHostToDevice);

  dim3 grid(CEIL_DIV(SAMPLES, 256), CEIL_DIV(VOICES, VOICES_PER_BLOCK));
  voice_bank<<<grid, 256>>>(dev_table, dev_start, dev_step, dev_volume, dev_ticks, dev_sound);
  cudaDeviceSynchronize();

  cudaMemcpy(h_sound, dev_sound, VOICES * SAMPLES * sizeof(float), cudaMemcpyDeviceToHost);
  write_to("data/sound.bin", h_sound, VOICES * SAMPLES * sizeof(float));

  cudaFree(dev_table);
  cudaFree(dev_start);
  cudaFree(dev_step);
  cudaFree(dev_volume);
  cudaFree(dev_ticks);
  cudaFree(dev_sound);
  delete[] h_table;
  delete[] h_start;
  delete[] h_step;
  delete[] h_volume;
  delete[] h_ticks;
  delete[] h_sound;
  return 0;
}
