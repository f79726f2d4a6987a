#include <cuda_runtime.h>
#include <cstdio>
#include <cstdlib>
#include <vector>

const int ROWS = 12;
const int SAMPLES = 1001;
const int OUT = (SAMPLES + 1) / 2;

__device__ float sample(const float* row, int t) {
  return t >= 0 && t < SAMPLES ? row[t] : 0.0f;
}

__global__ void halve_rate(const float* x, float* y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= ROWS * OUT) return;
  int t = 2 * (i % OUT);
  const float* row = x + (i / OUT) * SAMPLES;
  float sum = 16.0f * row[t];
  sum += 9.0f * (sample(row, t - 1) + sample(row, t + 1));
  sum -= sample(row, t - 3) + sample(row, t + 3);
  y[i] = sum / 32.0f;
}

void process(const float* x, float* y) {
  int n = ROWS * OUT;
  halve_rate<<<(n + 255) / 256, 256>>>(x, y);
}

int main() {
  size_t count_x = ROWS * SAMPLES;
  size_t count_y = ROWS * OUT;
  std::vector<float> host_x(count_x);
  std::vector<float> host_y(count_y);
  FILE* f_x = fopen("data/x.bin", "rb");
  if (!f_x || fread(host_x.data(), sizeof(float), host_x.size(), f_x) != host_x.size()) {
    fprintf(stderr, "data/x.bin: read error\n");
    return 1;
  }
  fclose(f_x);

  float* d_x = nullptr;
  cudaMalloc(&d_x, count_x * sizeof(float));
  float* d_y = nullptr;
  cudaMalloc(&d_y, count_y * sizeof(float));
  cudaMemcpy(d_x, host_x.data(), count_x * sizeof(float), cudaMemcpyHostToDevice);

  process(d_x, d_y);
  if (cudaDeviceSynchronize() != cudaSuccess) {
    fprintf(stderr, "kernel failed\n");
    return 1;
  }

  cudaMemcpy(host_y.data(), d_y, count_y * sizeof(float), cudaMemcpyDeviceToHost);
  FILE* out = fopen("data/y.bin", "wb");
  fwrite(host_y.data(), sizeof(float), host_y.size(), out);
  fclose(out);
  cudaFree(d_x);
  cudaFree(d_y);
  return 0;
}
