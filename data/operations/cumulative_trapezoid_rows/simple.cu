#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>
#include <cuda_runtime.h>

template <typename T>
std::vector<T> load(const std::string& path, size_t count) {
  std::vector<T> values(count);
  std::ifstream in(path, std::ios::binary);
  if (!in.read(reinterpret_cast<char*>(values.data()), count * sizeof(T))) {
    throw std::runtime_error("cannot read " + path);
  }
  return values;
}

template <typename T>
void store(const std::string& path, const std::vector<T>& values) {
  std::ofstream out(path, std::ios::binary);
  out.write(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T));
}
//@given

constexpr int kRows = 50;
constexpr int kPoints = 400;

__global__ void trapezoid(const float* f, const float* t, float* area) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= kRows) return;
  const float* y = f + (size_t)r * kPoints;
  float* out = area + (size_t)r * kPoints;
  float sum = 0.0f;
  out[0] = 0.0f;
  for (int i = 1; i < kPoints; ++i) {
    sum += 0.5f * (y[i - 1] + y[i]) * (t[i] - t[i - 1]);
    out[i] = sum;
  }
}

int main() {
  const auto h_f = load<float>("data/f.bin", kRows * kPoints);
  const auto h_t = load<float>("data/t.bin", kPoints);

  float* f_dev = nullptr;
  float* t_dev = nullptr;
  float* area_dev = nullptr;
  cudaMalloc(&f_dev, kRows * kPoints * sizeof(float));
  cudaMalloc(&t_dev, kPoints * sizeof(float));
  cudaMalloc(&area_dev, kRows * kPoints * sizeof(float));
  cudaMemcpy(f_dev, h_f.data(), kRows * kPoints * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemcpy(t_dev, h_t.data(), kPoints * sizeof(float), cudaMemcpyHostToDevice);

  trapezoid<<<(kRows + 32 - 1) / 32, 32>>>(f_dev, t_dev, area_dev);
  if (auto err = cudaGetLastError(); err != cudaSuccess) throw std::runtime_error(cudaGetErrorString(err));

  std::vector<float> h_area(kRows * kPoints);
  cudaMemcpy(h_area.data(), area_dev, kRows * kPoints * sizeof(float), cudaMemcpyDeviceToHost);
  store("data/area.bin", h_area);
  cudaFree(f_dev);
  cudaFree(t_dev);
  cudaFree(area_dev);
  return 0;
}
