#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>
#include <cuda_runtime.h>

template <typename T>
std::vector<T> load_bin(const std::string& path, size_t count) {
  std::vector<T> data(count);
  std::ifstream in(path, std::ios::binary);
  in.read(reinterpret_cast<char*>(data.data()), count * sizeof(T));
  if (!in) throw std::runtime_error("cannot read " + path);
  return data;
}

template <typename T>
void save_bin(const std::string& path, const std::vector<T>& data) {
  std::ofstream out(path, std::ios::binary);
  out.write(reinterpret_cast<const char*>(data.data()), data.size() * sizeof(T));
}
//@given

constexpr int kRows = 20;
constexpr int kCols = 400;

__device__ float median3(float a, float b, float c) {
  return fmaxf(fminf(a, b), fminf(fmaxf(a, b), c));
}

__global__ void median_of_three(const float* in, float* out) {
  int c = blockIdx.x * blockDim.x + threadIdx.x;
  if (c >= kCols) return;
  int i = blockIdx.y * kCols + c;
  out[i] = (c == 0 || c == kCols - 1) ? in[i] : median3(in[i - 1], in[i], in[i + 1]);
}

__global__ void median_of_five(const float* in, float* out) {
  int c = blockIdx.x * blockDim.x + threadIdx.x;
  if (c >= kCols) return;
  int i = blockIdx.y * kCols + c;
  if (c < 2 || c > kCols - 3) {
    out[i] = in[i];
    return;
  }
  float v[5];
  for (int k = 0; k < 5; k++) {
    float x = in[i + k - 2];
    int j = k;
    while (j > 0 && v[j - 1] > x) {
      v[j] = v[j - 1];
      j--;
    }
    v[j] = x;
  }
  out[i] = v[2];
}

__global__ void hanning(const float* in, const float* series, float* smooth, float* rough) {
  int c = blockIdx.x * blockDim.x + threadIdx.x;
  if (c >= kCols) return;
  int i = blockIdx.y * kCols + c;
  float s = in[i];
  if (c > 0 && c < kCols - 1) s = 0.25f * in[i - 1] + 0.5f * in[i] + 0.25f * in[i + 1];
  smooth[i] = s;
  rough[i] = series[i] - s;
}

int main() {
  constexpr size_t elements = kRows * kCols;
  const auto series = load_bin<float>("data/series.bin", elements);
  std::vector<float> smooth(elements);
  std::vector<float> rough(elements);

  float* dev_series = nullptr;
  float* dev_smooth = nullptr;
  float* dev_rough = nullptr;
  float* dev_three = nullptr;
  float* dev_five = nullptr;
  cudaMalloc(&dev_series, series.size() * sizeof(float));
  cudaMalloc(&dev_smooth, smooth.size() * sizeof(float));
  cudaMalloc(&dev_rough, rough.size() * sizeof(float));
  cudaMalloc(&dev_three, kRows * kCols * sizeof(float));
  cudaMalloc(&dev_five, kRows * kCols * sizeof(float));
  cudaMemcpy(dev_series, series.data(), series.size() * sizeof(float), cudaMemcpyHostToDevice);

  dim3 grid((kCols + 255) / 256, kRows);
  median_of_three<<<grid, 256>>>(dev_series, dev_three);
  median_of_five<<<grid, 256>>>(dev_three, dev_five);
  hanning<<<grid, 256>>>(dev_five, dev_series, dev_smooth, dev_rough);

  cudaMemcpy(smooth.data(), dev_smooth, smooth.size() * sizeof(float), cudaMemcpyDeviceToHost);
  cudaMemcpy(rough.data(), dev_rough, rough.size() * sizeof(float), cudaMemcpyDeviceToHost);
  save_bin("data/smooth.bin", smooth);
  save_bin("data/rough.bin", rough);
  cudaFree(dev_series);
  cudaFree(dev_smooth);
  cudaFree(dev_rough);
  cudaFree(dev_three);
  cudaFree(dev_five);
  return 0;
}
