#include <cstdint>
#include <fstream>
#include <iostream>
#include <stdexcept>
#include <string>
#include <vector>
#include <cuda_runtime.h>

constexpr int kKeys = 1000;
constexpr int kQueries = 3000;
constexpr int kWords = 256;
constexpr uint32_t kBits = 32u * kWords;

template <typename T>
struct GpuArray {
  T* p = nullptr;
  explicit GpuArray(size_t count) {
    if (cudaMalloc(&p, count * sizeof(T)) != cudaSuccess) throw std::runtime_error("cudaMalloc failed");
  }
  ~GpuArray() { cudaFree(p); }
  GpuArray(const GpuArray&) = delete;
  GpuArray& operator=(const GpuArray&) = delete;
};

template <typename T>
std::vector<T> readAll(const std::string& path, size_t count) {
  std::vector<T> host(count);
  std::ifstream in(path, std::ios::binary);
  if (!in.read((char*)host.data(), count * sizeof(T))) throw std::runtime_error("cannot read " + path);
  return host;
}

__device__ uint32_t mix(uint32_t x) {
  x ^= x >> 16;
  x *= 0x85EBCA6Bu;
  x ^= x >> 13;
  x *= 0xC2B2AE35u;
  x ^= x >> 16;
  return x;
}

__global__ void insert_keys(const uint32_t* members, uint32_t* filter) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= kKeys) return;
  uint32_t x = members[i], h1 = mix(x), h2 = (x * 0x9E3779B1u) | 1u;
  for (uint32_t j = 0; j < 4; ++j) {
    uint32_t bit = (h1 + j * h2) % kBits;
    atomicOr(&filter[bit / 32], 1u << (bit % 32));
  }
}

__global__ void query_keys(const uint32_t* probes, const uint32_t* filter, uint8_t* found) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= kQueries) return;
  uint32_t x = probes[i], h1 = mix(x), h2 = (x * 0x9E3779B1u) | 1u;
  uint32_t all = 1;
  for (uint32_t j = 0; j < 4; ++j) {
    uint32_t bit = (h1 + j * h2) % kBits;
    all &= filter[bit / 32] >> (bit % 32);
  }
  found[i] = all & 1u;
}

int main() try {
  std::vector<uint32_t> before = readAll<uint32_t>("data/before.bin", kWords);
  std::vector<uint32_t> members = readAll<uint32_t>("data/members.bin", kKeys);
  std::vector<uint32_t> probes = readAll<uint32_t>("data/probes.bin", kQueries);
  GpuArray<uint32_t> d_before(kWords);
  GpuArray<uint32_t> d_members(kKeys);
  GpuArray<uint32_t> d_probes(kQueries);
  GpuArray<uint32_t> d_filter(kWords);
  GpuArray<uint8_t> d_found(kQueries);
  cudaMemcpy(d_before.p, before.data(), kWords * sizeof(uint32_t), cudaMemcpyHostToDevice);
  cudaMemcpy(d_members.p, members.data(), kKeys * sizeof(uint32_t), cudaMemcpyHostToDevice);
  cudaMemcpy(d_probes.p, probes.data(), kQueries * sizeof(uint32_t), cudaMemcpyHostToDevice);

  cudaMemcpy(d_filter.p, d_before.p, kWords * sizeof(uint32_t), cudaMemcpyDeviceToDevice);
  insert_keys<<<(kKeys + 256 - 1) / 256, 256>>>(d_members.p, d_filter.p);
  query_keys<<<(kQueries + 256 - 1) / 256, 256>>>(d_probes.p, d_filter.p, d_found.p);
  if (cudaDeviceSynchronize() != cudaSuccess) throw std::runtime_error("kernel failed");

  std::vector<uint32_t> filter(kWords);
  cudaMemcpy(filter.data(), d_filter.p, kWords * sizeof(uint32_t), cudaMemcpyDeviceToHost);
  std::ofstream("data/filter.bin", std::ios::binary)
    .write((const char*)filter.data(), kWords * sizeof(uint32_t));
  std::vector<uint8_t> found(kQueries);
  cudaMemcpy(found.data(), d_found.p, kQueries * sizeof(uint8_t), cudaMemcpyDeviceToHost);
  std::ofstream("data/found.bin", std::ios::binary)
    .write((const char*)found.data(), kQueries * sizeof(uint8_t));
  return 0;
} catch (const std::exception& e) {
  std::cerr << e.what() << '\n';
  return 1;
}
