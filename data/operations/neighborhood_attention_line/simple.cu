#include <cuda_runtime.h>
#include <cfloat>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>
#include <vector>

template <typename T>
std::vector<T> readVector(const std::string& file_name, size_t count) {
  std::vector<T> v(count);
  std::ifstream in(file_name, std::ios::binary);
  if (!in.read(reinterpret_cast<char*>(v.data()), count * sizeof(T))) {
    std::cerr << "cannot load " << file_name << "\n";
    std::exit(1);
  }
  return v;
}

template <typename T>
void writeVector(const std::string& file_name, const std::vector<T>& v) {
  std::ofstream out(file_name, std::ios::binary);
  out.write(reinterpret_cast<const char*>(v.data()), v.size() * sizeof(T));
}
//@given

constexpr int kHeads = 4;
constexpr int kLength = 200;

__global__ void attend(const float* q, const float* k, const float* v, float* out) {
  int n = blockIdx.x * blockDim.x + threadIdx.x;
  if (n >= kHeads * kLength) return;
  int head = n / kLength, i = n % kLength;
  int s = min(max(i - 4, 0), kLength - 9);
  const float* keys = k + ((size_t)head * kLength + s) * 16;
  const float* vals = v + ((size_t)head * kLength + s) * 16;
  float e[9];
  float top = -FLT_MAX;
  for (int j = 0; j < 9; ++j) {
    float dot = 0.0f;
    for (int d = 0; d < 16; ++d) dot += q[(size_t)n * 16 + d] * keys[j * 16 + d];
    e[j] = 0.25f * dot;
    top = fmaxf(top, e[j]);
  }
  float sum = 0.0f;
  for (int j = 0; j < 9; ++j) {
    e[j] = expf(e[j] - top);
    sum += e[j];
  }
  for (int d = 0; d < 16; ++d) {
    float acc = 0.0f;
    for (int j = 0; j < 9; ++j) acc += e[j] * vals[j * 16 + d];
    out[(size_t)n * 16 + d] = acc / sum;
  }
}

int main() {
  constexpr size_t total = size_t(kHeads) * kLength * 16;
  const auto host_q = readVector<float>("data/q.bin", total);
  const auto host_k = readVector<float>("data/k.bin", total);
  const auto host_v = readVector<float>("data/v.bin", total);
  std::vector<float> host_out(total);

  float* d_q = nullptr;
  float* d_k = nullptr;
  float* d_v = nullptr;
  float* d_out = nullptr;
  cudaMalloc(&d_q, total * sizeof(float));
  cudaMalloc(&d_k, total * sizeof(float));
  cudaMalloc(&d_v, total * sizeof(float));
  cudaMalloc(&d_out, total * sizeof(float));
  cudaMemcpy(d_q, host_q.data(), host_q.size() * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemcpy(d_k, host_k.data(), host_k.size() * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemcpy(d_v, host_v.data(), host_v.size() * sizeof(float), cudaMemcpyHostToDevice);

  attend<<<(kHeads * kLength + 128 - 1) / 128, 128>>>(d_q, d_k, d_v, d_out);
  if (const auto error = cudaDeviceSynchronize(); error != cudaSuccess) {
    std::cerr << cudaGetErrorString(error) << "\n";
    return 1;
  }

  cudaMemcpy(host_out.data(), d_out, host_out.size() * sizeof(float), cudaMemcpyDeviceToHost);
  writeVector("data/out.bin", host_out);
  cudaFree(d_q);
  cudaFree(d_k);
  cudaFree(d_v);
  cudaFree(d_out);
  return 0;
}
