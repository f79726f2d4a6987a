#include <cuda_runtime.h>
#include <fstream>
#include <iostream>
#include <vector>

#define BATCH 2
#define CHANNELS 3
#define GRID_Y 5
#define GRID_X 6
#define PATCH 8
#define WIDTH (GRID_X * PATCH)
#define HEIGHT (GRID_Y * PATCH)
#define LENGTH (CHANNELS * PATCH * PATCH)
#define TOKENS (GRID_Y * GRID_X + 1)

__global__ void make_tokens(const float* image, const float* class_token, float* tokens) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= BATCH * TOKENS * LENGTH) return;
  int k = i % LENGTH;
  int t = i / LENGTH % TOKENS;
  int b = i / (LENGTH * TOKENS);
  if (t == 0) {
    tokens[i] = class_token[k];
    return;
  }
  int x = (t - 1) % GRID_X * PATCH + k % PATCH;
  int y = (t - 1) / GRID_X * PATCH + k / PATCH % PATCH;
  int c = k / (PATCH * PATCH);
  tokens[i] = image[((b * CHANNELS + c) * HEIGHT + y) * WIDTH + x];
}

int main() {
  const size_t imageSize = (size_t)BATCH * CHANNELS * (GRID_Y * PATCH) * (GRID_X * PATCH);
  const size_t class_tokenSize = CHANNELS * PATCH * PATCH;
  const size_t tokensSize = (size_t)BATCH * (GRID_Y * GRID_X + 1) * (CHANNELS * PATCH * PATCH);
  std::vector<float> h_image(imageSize);
  std::vector<float> h_class_token(class_tokenSize);
  std::vector<float> h_tokens(tokensSize);
  std::ifstream image_file("data/image.bin", std::ios::binary);
  image_file.read((char*)h_image.data(), imageSize * sizeof(float));
  if (!image_file) {
    std::cerr << "cannot read data/image.bin\n";
    return 1;
  }
  std::ifstream class_token_file("data/class_token.bin", std::ios::binary);
  class_token_file.read((char*)h_class_token.data(), class_tokenSize * sizeof(float));
  if (!class_token_file) {
    std::cerr << "cannot read data/class_token.bin\n";
    return 1;
  }

  float* d_image;
  float* d_class_token;
  float* d_tokens;
  cudaMalloc(&d_image, imageSize * sizeof(float));
  cudaMalloc(&d_class_token, class_tokenSize * sizeof(float));
  cudaMalloc(&d_tokens, tokensSize * sizeof(float));
  cudaMemcpy(d_image, h_image.data(), imageSize * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemcpy(d_class_token, h_class_token.data(), class_tokenSize * sizeof(float), cudaMemcpyHostToDevice);

  const int outputs = BATCH * TOKENS * LENGTH;
  make_tokens<<<(outputs + 256 - 1) / 256, 256>>>(d_image, d_class_token, d_tokens);
  cudaError_t err = cudaDeviceSynchronize();
  if (err != cudaSuccess) {
    std::cerr << "kernel failed: " << cudaGetErrorString(err) << '\n';
    return 1;
  }
  cudaMemcpy(h_tokens.data(), d_tokens, tokensSize * sizeof(float), cudaMemcpyDeviceToHost);

  std::ofstream tokens_file("data/tokens.bin", std::ios::binary);
  tokens_file.write((const char*)h_tokens.data(), tokensSize * sizeof(float));

  cudaFree(d_image);
  cudaFree(d_class_token);
  cudaFree(d_tokens);
  return 0;
}
