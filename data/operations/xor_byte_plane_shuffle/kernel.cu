#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>
#include <vector>
#include <cuda_runtime.h>

template <typename T>
std::vector<T> read_vector(const std::string& path, size_t n) {
  std::vector<T> values(n);
  std::ifstream stream(path, std::ios::binary);
  if (!stream.read(reinterpret_cast<char*>(values.data()), n * sizeof(T))) {
    std::cerr << "cannot read " << path << "\n";
    std::exit(1);
  }
  return values;
}

template <typename T>
void write_vector(const std::string& path, const std::vector<T>& values) {
  std::ofstream out(path, std::ios::binary);
  out.write(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T));
}
//@given

constexpr int kBlocks = 12;
constexpr int kLength = 1000;

// The values are read as integers; a thread makes four bytes of every plane and stores them at once if aligned.
__global__ void shuffle_quads(const unsigned int* __restrict__ values, unsigned char* __restrict__ bytes) {
  const int first = 4 * (blockIdx.x * blockDim.x + threadIdx.x);
  if (first >= kLength) return;
  const unsigned int* u = values + (size_t)blockIdx.y * kLength;
  unsigned char* dst = bytes + (size_t)blockIdx.y * 4 * kLength;
  unsigned int d[4];
  unsigned int before = first > 0 ? u[first - 1] : 0u;
  const int n = min(4, kLength - first);
  for (int j = 0; j < 4; ++j) {
    const unsigned int now = j < n ? u[first + j] : 0u;
    d[j] = now ^ before;
    before = now;
  }
  for (int k = 0; k < 4; ++k) {
    unsigned char* out = dst + k * kLength + first;
    const int s = 8 * k;
    if (kLength % 4 == 0) {
      *(uchar4*)out = make_uchar4((d[0] >> s) & 255u, (d[1] >> s) & 255u, (d[2] >> s) & 255u, (d[3] >> s) & 255u);
    } else {
      for (int j = 0; j < n; ++j) out[j] = (unsigned char)(d[j] >> s);
    }
  }
}

int main() {
  constexpr size_t values_len = (size_t)kBlocks * kLength;
  constexpr size_t bytes_len = (size_t)kBlocks * 4 * kLength;
  const auto values = read_vector<float>("data/values.bin", values_len);
  std::vector<unsigned char> bytes(bytes_len);

  float* d_values;
  unsigned char* d_bytes;
  cudaMalloc(&d_values, values_len * sizeof(float));
  cudaMalloc(&d_bytes, bytes_len * sizeof(unsigned char));

  cudaMemcpy(d_values, values.data(), values_len * sizeof(float), cudaMemcpyHostToDevice);

  const int quads = (kLength + 3) / 4;
  shuffle_quads<<<dim3((quads + 127) / 128, kBlocks), 128>>>((const unsigned int*)d_values, d_bytes);
  cudaError_t error = cudaGetLastError();
  if (error != cudaSuccess) {
    std::cerr << "kernel failed: " << cudaGetErrorString(error) << std::endl;
    return 1;
  }
  cudaMemcpy(bytes.data(), d_bytes, bytes_len * sizeof(unsigned char), cudaMemcpyDeviceToHost);
  write_vector("data/bytes.bin", bytes);

  cudaFree(d_values);
  cudaFree(d_bytes);
  return 0;
}
