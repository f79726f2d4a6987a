#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>
#include <cuda_runtime.h>

template <typename T>
std::vector<T> read(const std::string& path, size_t count) {
  std::vector<T> values(count);
  std::ifstream f(path, std::ios::binary);
  if (!f.read(reinterpret_cast<char*>(values.data()), count * sizeof(T))) {
    throw std::runtime_error("cannot read " + path);
  }
  return values;
}

template <typename T>
void write(const std::string& path, const std::vector<T>& values) {
  std::ofstream file(path, std::ios::binary);
  file.write(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T));
}
//@given

constexpr int kStacks = 40;
constexpr int kPlates = 100;
constexpr int kTotal = kStacks * kPlates;
constexpr int kSteps = 20;

__device__ float fourth(float u) {
  return u * u * u * u;
}

__global__ void radiate(const float* u, const float* rate, float* next) {
  int k = blockIdx.x * blockDim.x + threadIdx.x;
  if (k >= kTotal) return;
  int i = k % kPlates;
  float value = u[k];
  if (i > 0 && i < kPlates - 1) {
    value += rate[i] * (fourth(u[k - 1]) + fourth(u[k + 1]) - 2.0f * fourth(value));
  }
  next[k] = value;
}

int main() {
  const auto h_warmth = read<float>("data/warmth.bin", kTotal);
  const auto h_rate = read<float>("data/rate.bin", kPlates);

  float *d_warmth, *d_rate, *d_result, *d_spare;
  cudaMalloc(&d_warmth, kTotal * sizeof(float));
  cudaMalloc(&d_rate, kPlates * sizeof(float));
  cudaMalloc(&d_result, kTotal * sizeof(float));
  cudaMalloc(&d_spare, kTotal * sizeof(float));
  cudaMemcpy(d_warmth, h_warmth.data(), kTotal * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemcpy(d_rate, h_rate.data(), kPlates * sizeof(float), cudaMemcpyHostToDevice);

  const float* now = d_warmth;
  for (int s = 0; s < kSteps; ++s) {
    float* next = s % 2 == 0 ? d_spare : d_result;
    radiate<<<(kTotal + 255) / 256, 256>>>(now, d_rate, next);
    now = next;
  }

  std::vector<float> h_result(kTotal);
  cudaMemcpy(h_result.data(), d_result, kTotal * sizeof(float), cudaMemcpyDeviceToHost);
  write("data/result.bin", h_result);

  cudaFree(d_warmth);
  cudaFree(d_rate);
  cudaFree(d_result);
  cudaFree(d_spare);
  return 0;
}
