#include <cstdint>
#include <fstream>
#include <iostream>
#include <stdexcept>
#include <string>
#include <vector>
#include <cuda_runtime.h>

constexpr int kRows = 1500;
constexpr int kLength = 16;
constexpr int kBlock = 128;

template <typename T>
struct DeviceBuffer {
  T* ptr = nullptr;
  explicit DeviceBuffer(size_t count) {
    if (cudaMalloc(&ptr, count * sizeof(T)) != cudaSuccess) throw std::runtime_error("cudaMalloc failed");
  }
  ~DeviceBuffer() { cudaFree(ptr); }
  DeviceBuffer(const DeviceBuffer&) = delete;
  DeviceBuffer& operator=(const DeviceBuffer&) = delete;
};

template <typename T>
std::vector<T> read_input(const std::string& path, size_t count) {
  std::vector<T> host(count);
  std::ifstream in(path, std::ios::binary);
  if (!in.read((char*)host.data(), count * sizeof(T))) throw std::runtime_error("cannot read " + path);
  return host;
}

__global__ void luhn_staged(const uint8_t* __restrict__ digits, uint8_t* __restrict__ valid,
                            uint8_t* __restrict__ expected) {
  __shared__ uint8_t rows[kBlock * kLength];
  const int first = blockIdx.x * kBlock;
  const int here = min(kBlock, kRows - first);
  // kBlock is a multiple of 4, so every block starts on a word boundary.
  const uchar4* words = (const uchar4*)(digits + (size_t)first * kLength);
  const int bytes = here * kLength;
  for (int k = threadIdx.x; 4 * k + 3 < bytes; k += kBlock) {
    uchar4 w = words[k];
    rows[4 * k] = w.x;
    rows[4 * k + 1] = w.y;
    rows[4 * k + 2] = w.z;
    rows[4 * k + 3] = w.w;
  }
  const int rest = bytes / 4 * 4 + threadIdx.x;
  if (rest < bytes) rows[rest] = digits[(size_t)first * kLength + rest];
  __syncthreads();
  if (threadIdx.x >= here) return;
  const uint8_t* row = rows + threadIdx.x * kLength;
  int sum = 0;
  for (int i = 0; i < kLength - 1; ++i) {
    int d = row[i];
    sum += (kLength - i) & 1 ? d : 2 * d - (d > 4 ? 9 : 0);
  }
  const int check = (1000000 - sum) % 10;
  expected[first + threadIdx.x] = (uint8_t)check;
  valid[first + threadIdx.x] = row[kLength - 1] == check;
}

int main() try {
  const size_t count = kRows * kLength;
  std::vector<uint8_t> digits = read_input<uint8_t>("data/digits.bin", count);
  DeviceBuffer<uint8_t> d_digits(count);
  DeviceBuffer<uint8_t> d_valid(kRows);
  DeviceBuffer<uint8_t> d_expected(kRows);
  cudaMemcpy(d_digits.ptr, digits.data(), count * sizeof(uint8_t), cudaMemcpyHostToDevice);

  luhn_staged<<<(kRows + kBlock - 1) / kBlock, kBlock>>>(d_digits.ptr, d_valid.ptr, d_expected.ptr);
  if (cudaDeviceSynchronize() != cudaSuccess) throw std::runtime_error("kernel failed");

  std::vector<uint8_t> valid(kRows);
  cudaMemcpy(valid.data(), d_valid.ptr, kRows * sizeof(uint8_t), cudaMemcpyDeviceToHost);
  std::ofstream("data/valid.bin", std::ios::binary)
    .write((const char*)valid.data(), kRows * sizeof(uint8_t));
  std::vector<uint8_t> expected(kRows);
  cudaMemcpy(expected.data(), d_expected.ptr, kRows * sizeof(uint8_t), cudaMemcpyDeviceToHost);
  std::ofstream("data/expected.bin", std::ios::binary)
    .write((const char*)expected.data(), kRows * sizeof(uint8_t));
  return 0;
} catch (const std::exception& e) {
  std::cerr << e.what() << '\n';
  return 1;
}
