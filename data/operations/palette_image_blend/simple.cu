#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>
#include <vector>
#include <cuda_runtime.h>

template <typename T>
std::vector<T> from_file(const std::string& path, size_t count) {
  std::vector<T> data(count);
  std::ifstream in(path, std::ios::binary);
  if (!in.read(reinterpret_cast<char*>(data.data()), count * sizeof(T))) {
    std::cerr << "cannot read " << path << "\n";
    std::exit(1);
  }
  return data;
}

template <typename T>
void to_file(const std::string& path, const std::vector<T>& data) {
  std::ofstream out(path, std::ios::binary);
  out.write(reinterpret_cast<const char*>(data.data()), data.size() * sizeof(T));
}
//@given

constexpr int kFrames = 3;
constexpr int kHeight = 40;
constexpr int kWidth = 51;
constexpr int kArea = kHeight * kWidth;

__global__ void render(const unsigned char* codes, const float* palette, const float* background, float* rgb) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= kFrames * kArea) return;
  int frame = i / kArea;
  int pixel = i % kArea;
  int code = codes[i];
  const float* color = palette + (frame * 256 + code) * 4;
  float a = code == 0 ? 0.0f : color[3];
  for (int c = 0; c < 3; c++) {
    rgb[(frame * 3 + c) * kArea + pixel] = a * color[c] + (1.0f - a) * background[c * kArea + pixel];
  }
}

int main() {
  constexpr size_t codes_total = size_t(kFrames) * kHeight * kWidth;
  constexpr size_t palette_total = size_t(kFrames) * 256 * 4;
  constexpr size_t background_total = size_t(3) * kHeight * kWidth;
  constexpr size_t rgb_total = size_t(kFrames) * 3 * kHeight * kWidth;
  const auto codes = from_file<unsigned char>("data/codes.bin", codes_total);
  auto palette = from_file<float>("data/palette.bin", palette_total);
  auto background = from_file<float>("data/background.bin", background_total);
  std::vector<float> rgb(rgb_total);

  unsigned char* d_codes = nullptr;
  cudaMalloc(&d_codes, codes_total * sizeof(unsigned char));
  cudaMemcpy(d_codes, codes.data(), codes_total * sizeof(unsigned char), cudaMemcpyHostToDevice);
  float* d_palette = nullptr;
  cudaMalloc(&d_palette, palette_total * sizeof(float));
  cudaMemcpy(d_palette, palette.data(), palette_total * sizeof(float), cudaMemcpyHostToDevice);
  float* d_background = nullptr;
  cudaMalloc(&d_background, background_total * sizeof(float));
  cudaMemcpy(d_background, background.data(), background_total * sizeof(float), cudaMemcpyHostToDevice);
  float* d_rgb = nullptr;
  cudaMalloc(&d_rgb, rgb_total * sizeof(float));

  render<<<(kFrames * kArea + 255) / 256, 256>>>(d_codes, d_palette, d_background, d_rgb);
  cudaError_t err = cudaDeviceSynchronize();
  if (err != cudaSuccess) {
    std::cerr << "kernel failed: " << cudaGetErrorString(err) << '\n';
    return 1;
  }
  cudaMemcpy(rgb.data(), d_rgb, rgb_total * sizeof(float), cudaMemcpyDeviceToHost);
  to_file("data/rgb.bin", rgb);

  cudaFree(d_codes);
  cudaFree(d_palette);
  cudaFree(d_background);
  cudaFree(d_rgb);
  return 0;
}
