#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>
#include <vector>
#include <cuda_runtime.h>

template <typename T>
std::vector<T> loadVector(const std::string& path, size_t count) {
  std::vector<T> v(count);
  std::ifstream in(path, std::ios::binary);
  if (!in.read((char*)v.data(), count * sizeof(T))) {
    std::cerr << "bad input file: " << path << std::endl;
    std::exit(EXIT_FAILURE);
  }
  return v;
}

template <typename T>
void storeVector(const std::string& path, const std::vector<T>& v) {
  std::ofstream out(path, std::ios::binary);
  out.write((const char*)v.data(), v.size() * sizeof(T));
}
//@given

constexpr int kHeight = 70;
constexpr int kWidth = 120;

__device__ float lab_curve(float t) {
  if (t > 216.0f / 24389.0f) return cbrtf(t);
  return (24389.0f / 27.0f * t + 16.0f) / 116.0f;
}

__global__ void rgb_to_lab(const float* rgb, float* lab) {
  const int n = kHeight * kWidth;
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float r = rgb[i], g = rgb[n + i], b = rgb[2 * n + i];
  float x = lab_curve((0.4124f * r + 0.3576f * g + 0.1805f * b) / 0.95047f);
  float y = lab_curve(0.2126f * r + 0.7152f * g + 0.0722f * b);
  float z = lab_curve((0.0193f * r + 0.1192f * g + 0.9505f * b) / 1.08883f);
  lab[i] = 116.0f * y - 16.0f;
  lab[n + i] = 500.0f * (x - y);
  lab[2 * n + i] = 200.0f * (y - z);
}

int main() {
  constexpr auto size = 3 * kHeight * kWidth;
  const auto host_rgb = loadVector<float>("data/rgb.bin", size);
  std::vector<float> host_lab(size);

  float* rgb_dev;
  cudaMalloc(&rgb_dev, size * sizeof(float));
  float* lab_dev;
  cudaMalloc(&lab_dev, size * sizeof(float));
  cudaMemcpy(rgb_dev, host_rgb.data(), size * sizeof(float), cudaMemcpyHostToDevice);

  const int pixels = kHeight * kWidth;
  rgb_to_lab<<<(pixels + 255) / 256, 256>>>(rgb_dev, lab_dev);

  cudaMemcpy(host_lab.data(), lab_dev, size * sizeof(float), cudaMemcpyDeviceToHost);
  storeVector("data/lab.bin", host_lab);
  cudaFree(rgb_dev);
  cudaFree(lab_dev);
  return 0;
}
