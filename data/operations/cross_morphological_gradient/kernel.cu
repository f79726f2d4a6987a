#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>
#include <vector>
#include <cuda_runtime.h>

template <typename T>
std::vector<T> from_file(const std::string& path, size_t count) {
  std::vector<T> v(count);
  std::ifstream in(path, std::ios::binary);
  if (!in.read((char*)v.data(), count * sizeof(T))) {
    std::cerr << "bad input file: " << path << std::endl;
    std::exit(EXIT_FAILURE);
  }
  return v;
}

template <typename T>
void to_file(const std::string& path, const std::vector<T>& v) {
  std::ofstream out(path, std::ios::binary);
  out.write((const char*)v.data(), v.size() * sizeof(T));
}
//@given

constexpr int kChannels = 3;
constexpr int kHeight = 60;
constexpr int kWidth = 90;
constexpr int kArm = 2;

#define TW 32
#define TH 16

// Positions outside of the image are filled with the nearest pixel, which lies under the cross anyway.
__global__ void cross_tile(const float* __restrict__ image, float* __restrict__ gradient) {
  __shared__ float t[TH + 2 * kArm][TW + 2 * kArm];
  const size_t base = (size_t)blockIdx.z * kHeight * kWidth;
  const int bx = blockIdx.x * TW - kArm, by = blockIdx.y * TH - kArm;
  for (int j = threadIdx.y; j < TH + 2 * kArm; j += TH)
    for (int i = threadIdx.x; i < TW + 2 * kArm; i += TW) {
      int gy = min(max(by + j, 0), kHeight - 1), gx = min(max(bx + i, 0), kWidth - 1);
      t[j][i] = image[base + (size_t)gy * kWidth + gx];
    }
  __syncthreads();
  const int x = blockIdx.x * TW + threadIdx.x, y = blockIdx.y * TH + threadIdx.y;
  if (x >= kWidth || y >= kHeight) return;
  float top = t[threadIdx.y + kArm][threadIdx.x + kArm], low = top;
  for (int k = 0; k <= 2 * kArm; ++k) {
    float a = t[threadIdx.y + kArm][threadIdx.x + k];
    float b = t[threadIdx.y + k][threadIdx.x + kArm];
    top = fmaxf(top, fmaxf(a, b));
    low = fminf(low, fminf(a, b));
  }
  gradient[base + (size_t)y * kWidth + x] = top - low;
}

int main() {
  constexpr size_t num = kChannels * kHeight * kWidth;
  auto h_image = from_file<float>("data/image.bin", num);
  std::vector<float> h_gradient(num);

  float* image_dev;
  cudaMalloc(&image_dev, num * sizeof(float));
  float* gradient_dev;
  cudaMalloc(&gradient_dev, num * sizeof(float));
  cudaMemcpy(image_dev, h_image.data(), num * sizeof(float), cudaMemcpyHostToDevice);

  dim3 block(TW, TH);
  dim3 grid((kWidth + TW - 1) / TW, (kHeight + TH - 1) / TH, kChannels);
  cross_tile<<<grid, block>>>(image_dev, gradient_dev);
  auto status = cudaGetLastError();
  if (status != cudaSuccess) {
    std::cerr << "launch failed: " << cudaGetErrorString(status) << std::endl;
    return 1;
  }
  cudaMemcpy(h_gradient.data(), gradient_dev, num * sizeof(float), cudaMemcpyDeviceToHost);
  to_file("data/gradient.bin", h_gradient);
  cudaFree(image_dev);
  cudaFree(gradient_dev);
  return 0;
}
