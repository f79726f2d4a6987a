#include <fstream>
#include <iostream>
#include <vector>
#include <cuda_runtime.h>

const int CHANNELS = 3;
const int HEIGHT = 60;
const int WIDTH = 90;
const int ARM = 2;

__global__ void cross_gradient(const float* image, float* gradient) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= WIDTH || y >= HEIGHT) return;
  const float* plane = image + (size_t)blockIdx.z * HEIGHT * WIDTH;
  float hi = plane[y * WIDTH + x], lo = hi;
  for (int k = -ARM; k <= ARM; ++k) {
    if (x + k >= 0 && x + k < WIDTH) {
      float v = plane[y * WIDTH + x + k];
      hi = fmaxf(hi, v);
      lo = fminf(lo, v);
    }
    if (y + k >= 0 && y + k < HEIGHT) {
      float v = plane[(y + k) * WIDTH + x];
      hi = fmaxf(hi, v);
      lo = fminf(lo, v);
    }
  }
  gradient[((size_t)blockIdx.z * HEIGHT + y) * WIDTH + x] = hi - lo;
}

int main() {
  const size_t elements = CHANNELS * HEIGHT * WIDTH;
  std::vector<float> h_image(elements);
  std::vector<float> h_gradient(elements);
  std::ifstream in("data/image.bin", std::ios::binary);
  if (!in.read((char*)h_image.data(), h_image.size() * sizeof(float))) {
    std::cerr << "image.bin: read failed" << std::endl;
    return 1;
  }

  float* d_image;
  float* d_gradient;
  cudaMalloc(&d_image, elements * sizeof(float));
  cudaMalloc(&d_gradient, elements * sizeof(float));
  cudaMemcpy(d_image, h_image.data(), elements * sizeof(float), cudaMemcpyHostToDevice);

  dim3 block(32, 8);
  dim3 grid((WIDTH + 31) / 32, (HEIGHT + 7) / 8, CHANNELS);
  cross_gradient<<<grid, block>>>(d_image, d_gradient);

  cudaError_t result = cudaGetLastError();
  if (result != cudaSuccess) {
    std::cerr << cudaGetErrorString(result) << std::endl;
    return 1;
  }

  cudaMemcpy(h_gradient.data(), d_gradient, elements * sizeof(float), cudaMemcpyDeviceToHost);
  std::ofstream out("data/gradient.bin", std::ios::binary);
  out.write((const char*)h_gradient.data(), h_gradient.size() * sizeof(float));
  cudaFree(d_image);
  cudaFree(d_gradient);
  return 0;
}
