#include <cuda_runtime.h>
#include <fstream>
#include <iostream>
#include <stdexcept>
#include <string>
#include <vector>

template <typename T>
std::vector<T> from_file(const std::string& path, size_t count) {
  std::vector<T> buffer(count);
  std::ifstream file(path, std::ios::binary);
  file.read(reinterpret_cast<char*>(buffer.data()), count * sizeof(T));
  if (!file) throw std::runtime_error("bad file " + path);
  return buffer;
}

template <typename T>
void to_file(const std::string& path, const std::vector<T>& buffer) {
  std::ofstream out(path, std::ios::binary);
  out.write(reinterpret_cast<const char*>(buffer.data()), buffer.size() * sizeof(T));
  if (!out) throw std::runtime_error("cannot write " + path);
}
//@given

constexpr int kN = 20000;
constexpr int kNodes = 17;

__global__ void calibrate(const float *raw, const float *node, const float *value, float *corrected, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    float v = raw[i];
    if (v <= node[0]) {
      corrected[i] = value[0];
    } else if (v >= node[kNodes - 1]) {
      corrected[i] = value[kNodes - 1];
    } else {
      int lo = 0, hi = kNodes - 1;
      while (hi - lo > 1) {
        int mid = (lo + hi) / 2;
        if (node[mid] <= v) lo = mid;
        else hi = mid;
      }
      float t = (v - node[lo]) / (node[hi] - node[lo]);
      corrected[i] = value[lo] + t * (value[hi] - value[lo]);
    }
  }
}

int main() {
  auto raw = from_file<float>("data/raw.bin", kN);
  const auto node = from_file<float>("data/node.bin", kNodes);
  auto value = from_file<float>("data/value.bin", kNodes);
  std::vector<float> corrected(kN);

  float *d_raw, *d_node, *d_value, *d_corrected;
  cudaMalloc(&d_raw, kN * sizeof(float));
  cudaMalloc(&d_node, kNodes * sizeof(float));
  cudaMalloc(&d_value, kNodes * sizeof(float));
  cudaMalloc(&d_corrected, kN * sizeof(float));
  cudaMemcpy(d_raw, raw.data(), kN * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemcpy(d_node, node.data(), kNodes * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemcpy(d_value, value.data(), kNodes * sizeof(float), cudaMemcpyHostToDevice);

  calibrate<<<(kN + 256 - 1) / 256, 256>>>(d_raw, d_node, d_value, d_corrected, kN);
  if (auto err = cudaDeviceSynchronize(); err != cudaSuccess) {
    std::cerr << cudaGetErrorString(err) << "\n";
    return 1;
  }

  cudaMemcpy(corrected.data(), d_corrected, kN * sizeof(float), cudaMemcpyDeviceToHost);
  to_file("data/corrected.bin", corrected);

  cudaFree(d_raw);
  cudaFree(d_node);
  cudaFree(d_value);
  cudaFree(d_corrected);
  return 0;
}
