#include <cstdint>
#include <fstream>
#include <vector>
#include <cuda_runtime.h>

#define BATCH 4
#define HEIGHT 50
#define WIDTH 60

__device__ int pixel(const uint8_t* image, int y, int x) {
  y = min(max(y, 0), HEIGHT - 1);
  x = min(max(x, 0), WIDTH - 1);
  return image[y * WIDTH + x];
}

__global__ void emboss(const uint8_t* images, const int* direction, const int* gain, uint8_t* relief) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  int b = blockIdx.z;
  if (x >= WIDTH || y >= HEIGHT) return;
  const int step_y[8] = {0, 1, 1, 1, 0, -1, -1, -1};
  const int step_x[8] = {1, 1, 0, -1, -1, -1, 0, 1};
  int dy = step_y[direction[b]], dx = step_x[direction[b]];
  const uint8_t* image = images + (size_t)b * HEIGHT * WIDTH;
  int v = (pixel(image, y + dy, x + dx) - pixel(image, y - dy, x - dx)) * gain[b];
  int half = v >= 0 ? v / 2 : -((1 - v) / 2);
  relief[((size_t)b * HEIGHT + y) * WIDTH + x] = (uint8_t)min(max(half + 128, 0), 255);
}

int main() {
  const size_t total = BATCH * HEIGHT * WIDTH;
  std::vector<uint8_t> images(total);
  std::vector<int> direction(BATCH);
  std::vector<int> gain(BATCH);
  std::vector<uint8_t> relief(total);
  if (!std::ifstream("data/images.bin", std::ios::binary).read((char*)images.data(),
    total * sizeof(uint8_t))) return 1;
  if (!std::ifstream("data/direction.bin", std::ios::binary).read((char*)direction.data(),
    BATCH * sizeof(int))) return 1;
  if (!std::ifstream("data/gain.bin", std::ios::binary).read((char*)gain.data(), BATCH * sizeof(int))) return 1;
  uint8_t* d_images; cudaMalloc(&d_images, total * sizeof(uint8_t));
  int* d_direction; cudaMalloc(&d_direction, BATCH * sizeof(int));
  int* d_gain; cudaMalloc(&d_gain, BATCH * sizeof(int));
  uint8_t* d_relief; cudaMalloc(&d_relief, total * sizeof(uint8_t));
  cudaMemcpy(d_images, images.data(), total * sizeof(uint8_t), cudaMemcpyHostToDevice);
  cudaMemcpy(d_direction, direction.data(), BATCH * sizeof(int), cudaMemcpyHostToDevice);
  cudaMemcpy(d_gain, gain.data(), BATCH * sizeof(int), cudaMemcpyHostToDevice);
  dim3 block(32, 8);
  dim3 grid((WIDTH + 32 - 1) / 32, (HEIGHT + 8 - 1) / 8, BATCH);
  emboss<<<grid, block>>>(d_images, d_direction, d_gain, d_relief);
  cudaMemcpy(relief.data(), d_relief, total * sizeof(uint8_t), cudaMemcpyDeviceToHost);
  std::ofstream("data/relief.bin", std::ios::binary).write((char*)relief.data(), total * sizeof(uint8_t));
  return 0;
}
