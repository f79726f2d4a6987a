#include <cstdio>
#include <vector>
#include <cuda_runtime.h>

constexpr int PLANES = 4;
constexpr int HEIGHT = 40;
constexpr int WIDTH = 75;
constexpr int PAD_Y = 4;
constexpr int PAD_X = 3;
constexpr int OUT_H = HEIGHT + 2 * PAD_Y;
constexpr int OUT_W = WIDTH + 2 * PAD_X;
const size_t panorama_total = (size_t)PLANES * HEIGHT * WIDTH;
const size_t padded_total = (size_t)PLANES * (HEIGHT + 8) * (WIDTH + 6);

__global__ void pad_rows(const float* __restrict__ panorama, float* __restrict__ padded) {
  const int plane = blockIdx.y;
  int y = abs((int)blockIdx.x - PAD_Y);
  if (y >= HEIGHT) y = 2 * HEIGHT - 2 - y;
  const float* src = panorama + (size_t)(plane * HEIGHT + y) * WIDTH;
  float* dst = padded + (size_t)(plane * OUT_H + blockIdx.x) * OUT_W;
  for (int x = threadIdx.x; x < WIDTH; x += blockDim.x) dst[x + PAD_X] = src[x];
  if (threadIdx.x < PAD_X) {
    dst[threadIdx.x] = src[WIDTH - PAD_X + threadIdx.x];
    dst[WIDTH + PAD_X + threadIdx.x] = src[threadIdx.x];
  }
}

void launch(const float* dev_panorama, float* dev_padded) {
  dim3 grid(OUT_H, PLANES);
  pad_rows<<<grid, 256>>>(dev_panorama, dev_padded);
}

int main() {
  std::vector<float> panorama(panorama_total);
  std::vector<float> padded(padded_total);
  FILE* panorama_file = fopen("data/panorama.bin", "rb");
  if (!panorama_file || fread(panorama.data(), sizeof(float), panorama_total, panorama_file) != panorama_total) {
    fprintf(stderr, "cannot read data/panorama.bin\n");
    return 1;
  }
  fclose(panorama_file);

  float *dev_panorama, *dev_padded;
  cudaMalloc(&dev_panorama, panorama_total * sizeof(float));
  cudaMalloc(&dev_padded, padded_total * sizeof(float));
  cudaMemcpy(dev_panorama, panorama.data(), panorama_total * sizeof(float), cudaMemcpyHostToDevice);

  launch(dev_panorama, dev_padded);
  cudaError_t result = cudaDeviceSynchronize();
  if (result != cudaSuccess) {
    fprintf(stderr, "CUDA: %s\n", cudaGetErrorString(result));
    return 1;
  }
  cudaMemcpy(padded.data(), dev_padded, padded_total * sizeof(float), cudaMemcpyDeviceToHost);

  FILE* padded_file = fopen("data/padded.bin", "wb");
  fwrite(padded.data(), sizeof(float), padded_total, padded_file);
  fclose(padded_file);
  cudaFree(dev_panorama);
  cudaFree(dev_padded);
  return 0;
}
