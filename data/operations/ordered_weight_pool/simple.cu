#include <cuda_runtime.h>
#include <fstream>
#include <iostream>
#include <vector>

#define BATCH 2
#define CHANNELS 6
#define HEIGHT 50
#define WIDTH 60

__global__ void ordered_pool(const float* x, const float* weights, float* y) {
  const int oh = HEIGHT / 2, ow = WIDTH / 2;
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= BATCH * CHANNELS * oh * ow) return;
  int col = i % ow;
  int row = i / ow % oh;
  int plane = i / (ow * oh);
  const float* p = x + ((size_t)plane * HEIGHT + 2 * row) * WIDTH + 2 * col;
  float v[4] = {p[0], p[1], p[WIDTH], p[WIDTH + 1]};
  for (int a = 0; a < 3; a++) {
    for (int b = 0; b < 3 - a; b++) {
      if (v[b] < v[b + 1]) {
        float swap = v[b];
        v[b] = v[b + 1];
        v[b + 1] = swap;
      }
    }
  }
  const float* w = weights + 4 * (plane % CHANNELS);
  y[i] = w[0] * v[0] + w[1] * v[1] + w[2] * v[2] + w[3] * v[3];
}

int main() {
  const size_t num_x = BATCH * CHANNELS * HEIGHT * WIDTH;
  const size_t num_weights = CHANNELS * 4;
  const size_t num_y = (size_t)BATCH * CHANNELS * (HEIGHT / 2) * (WIDTH / 2);
  std::vector<float> h_x(num_x);
  std::vector<float> h_weights(num_weights);
  std::vector<float> h_y(num_y);
  std::ifstream in_x("data/x.bin", std::ios::binary);
  in_x.read(reinterpret_cast<char*>(h_x.data()), num_x * sizeof(float));
  if (!in_x) {
    std::cerr << "failed to read data/x.bin" << std::endl;
    return 1;
  }
  std::ifstream in_weights("data/weights.bin", std::ios::binary);
  in_weights.read(reinterpret_cast<char*>(h_weights.data()), num_weights * sizeof(float));
  if (!in_weights) {
    std::cerr << "cannot read data/weights.bin" << std::endl;
    return 1;
  }

  float* d_x;
  float* d_weights;
  float* d_y;
  cudaMalloc(&d_x, num_x * sizeof(float));
  cudaMalloc(&d_weights, num_weights * sizeof(float));
  cudaMalloc(&d_y, num_y * sizeof(float));
  cudaMemcpy(d_x, h_x.data(), num_x * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemcpy(d_weights, h_weights.data(), num_weights * sizeof(float), cudaMemcpyHostToDevice);

  int outputs = BATCH * CHANNELS * (HEIGHT / 2) * (WIDTH / 2);
  ordered_pool<<<(outputs + 256 - 1) / 256, 256>>>(d_x, d_weights, d_y);
  cudaError_t err = cudaDeviceSynchronize();
  if (err != cudaSuccess) {
    std::cerr << "CUDA error: " << cudaGetErrorString(err) << "\n";
    return 1;
  }

  cudaMemcpy(h_y.data(), d_y, num_y * sizeof(float), cudaMemcpyDeviceToHost);
  std::ofstream out_y("data/y.bin", std::ios::binary);
  out_y.write(reinterpret_cast<char*>(h_y.data()), num_y * sizeof(float));

  cudaFree(d_x);
  cudaFree(d_weights);
  cudaFree(d_y);
  return 0;
}
