#include <fstream>
#include <vector>
#include <cuda_runtime.h>

#define PULSES 6
#define SAMPLES 600

const int M = 128;
const int DELAYS = SAMPLES - 127;

__global__ void compress(const float* echo, float* power) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= PULSES * DELAYS) return;
  int p = i / DELAYS;
  int d = i % DELAYS;
  const float* e = echo + 2 * (p * SAMPLES + d);
  float re = 0.0f, im = 0.0f;
  for (int j = 0; j < M; j++) {
    int q = (j - 64) * (j - 64) % 256;  // the phase in units of pi / 128
    float c = cospif(q / 128.0f);
    float s = sinpif(q / 128.0f);
    re += e[2 * j] * c + e[2 * j + 1] * s;
    im += e[2 * j + 1] * c - e[2 * j] * s;
  }
  re /= M;
  im /= M;
  power[i] = re * re + im * im;
}

int main() {
  std::vector<float> echo(PULSES * SAMPLES * 2);
  std::vector<float> power(PULSES * DELAYS);
  std::ifstream in_echo("data/echo.bin", std::ios::binary);
  if (!in_echo.read((char*)echo.data(), sizeof(float) * PULSES * SAMPLES * 2)) return 1;
  float *d_echo, *d_power;
  cudaMalloc(&d_echo, sizeof(float) * PULSES * SAMPLES * 2);
  cudaMalloc(&d_power, sizeof(float) * PULSES * DELAYS);
  cudaMemcpy(d_echo, echo.data(), sizeof(float) * PULSES * SAMPLES * 2, cudaMemcpyHostToDevice);
  compress<<<(PULSES * DELAYS + 127) / 128, 128>>>(d_echo, d_power);
  cudaMemcpy(power.data(), d_power, sizeof(float) * PULSES * DELAYS, cudaMemcpyDeviceToHost);
  std::ofstream("data/power.bin", std::ios::binary).write((char*)power.data(), sizeof(float) * PULSES * DELAYS);
  cudaFree(d_echo);
  cudaFree(d_power);
  return 0;
}
