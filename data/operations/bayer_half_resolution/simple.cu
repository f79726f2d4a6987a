#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

const int HEIGHT = 30;
const int WIDTH = 50;

#define CHECK(call) do {                                                               \
  cudaError_t code = (call);                                                           \
  if (code != cudaSuccess) {                                                           \
    fprintf(stderr, "CUDA error %s at line %d\n", cudaGetErrorString(code), __LINE__); \
    exit(1);                                                                           \
  }                                                                                    \
} while (0)

__device__ float linear(int raw, int black) {
  return fmaxf((float)(raw - black), 0.0f) / (float)(4095 - black);
}

__global__ void bin_cells(const uint16_t* raw, const int* black, const float* gain, float* rgb) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= WIDTH || y >= HEIGHT) return;
  const uint16_t* top = raw + (size_t)(2 * y) * (2 * WIDTH) + 2 * x;
  const uint16_t* bottom = top + 2 * WIDTH;
  float r = linear(top[0], black[0]);
  float g = 0.5f * (linear(top[1], black[1]) + linear(bottom[0], black[2]));
  float b = linear(bottom[1], black[3]);
  float* out = rgb + ((size_t)y * WIDTH + x) * 3;
  out[0] = fminf(r * gain[0], 1.0f);
  out[1] = fminf(g * gain[1], 1.0f);
  out[2] = fminf(b * gain[2], 1.0f);
}

int main() {
  const size_t raw_count = HEIGHT * 2 * WIDTH * 2;
  const size_t rgb_count = (size_t)HEIGHT * WIDTH * 3;
  uint16_t* h_raw = (uint16_t*)malloc(raw_count * sizeof(uint16_t));
  int* h_black = (int*)malloc(4 * sizeof(int));
  float* h_gain = (float*)malloc(3 * sizeof(float));
  float* h_rgb = (float*)malloc(rgb_count * sizeof(float));

  FILE* file = fopen("data/raw.bin", "rb");
  if (!file || fread(h_raw, sizeof(uint16_t), raw_count, file) != raw_count) {
    fprintf(stderr, "cannot read data/raw.bin\n");
    return 1;
  }
  fclose(file);
  file = fopen("data/black.bin", "rb");
  if (!file || fread(h_black, sizeof(int), 4, file) != 4) {
    fprintf(stderr, "cannot read data/black.bin\n");
    return 1;
  }
  fclose(file);
  file = fopen("data/gain.bin", "rb");
  if (!file || fread(h_gain, sizeof(float), 3, file) != 3) {
    fprintf(stderr, "cannot read data/gain.bin\n");
    return 1;
  }
  fclose(file);

  uint16_t *d_raw;
  int *d_black;
  float *d_gain, *d_rgb;
  CHECK(cudaMalloc(&d_raw, raw_count * sizeof(uint16_t)));
  CHECK(cudaMalloc(&d_black, 4 * sizeof(int)));
  CHECK(cudaMalloc(&d_gain, 3 * sizeof(float)));
  CHECK(cudaMalloc(&d_rgb, rgb_count * sizeof(float)));
  CHECK(cudaMemcpy(d_raw, h_raw, raw_count * sizeof(uint16_t), cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(d_black, h_black, 4 * sizeof(int), cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(d_gain, h_gain, 3 * sizeof(float), cudaMemcpyHostToDevice));

  dim3 block(32, 8);
  dim3 grid((WIDTH + 32 - 1) / 32, (HEIGHT + 8 - 1) / 8);
  bin_cells<<<grid, block>>>(d_raw, d_black, d_gain, d_rgb);
  CHECK(cudaGetLastError());
  CHECK(cudaMemcpy(h_rgb, d_rgb, rgb_count * sizeof(float), cudaMemcpyDeviceToHost));

  file = fopen("data/rgb.bin", "wb");
  if (!file) return 1;
  fwrite(h_rgb, sizeof(float), rgb_count, file);
  fclose(file);

  cudaFree(d_raw);
  cudaFree(d_black);
  cudaFree(d_gain);
  cudaFree(d_rgb);
  free(h_raw);
  free(h_black);
  free(h_gain);
  free(h_rgb);
  return 0;
}
