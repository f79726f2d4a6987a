#include <cuda_runtime.h>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>
#include <vector>

template <typename T>
struct GpuArray {
  T* ptr = nullptr;
  size_t count;
  explicit GpuArray(size_t n) : count(n) {
    if (cudaMalloc(&ptr, n * sizeof(T)) != cudaSuccess) {
      std::cerr << "cudaMalloc failed" << std::endl;
      std::exit(1);
    }
  }
  ~GpuArray() { cudaFree(ptr); }
  GpuArray(const GpuArray&) = delete;
  GpuArray& operator=(const GpuArray&) = delete;
  void upload(const std::vector<T>& v) {
    cudaMemcpy(ptr, v.data(), count * sizeof(T), cudaMemcpyHostToDevice);
  }
  void download(std::vector<T>& v) const {
    cudaMemcpy(v.data(), ptr, count * sizeof(T), cudaMemcpyDeviceToHost);
  }
};

template <typename T>
std::vector<T> load(const std::string& path, size_t n) {
  std::vector<T> v(n);
  std::ifstream in(path, std::ios::binary);
  in.read(reinterpret_cast<char*>(v.data()), n * sizeof(T));
  if (!in) {
    std::cerr << "cannot read " + path << std::endl;
    std::exit(1);
  }
  return v;
}

constexpr int PAIRS = 150;
constexpr int LENGTH = 120;

constexpr int WARPS = 4;

// A warp per pair: every ballot tells for 32 bytes how many differ and which is the first.
__global__ void compare_ballots(const unsigned char* __restrict__ left, const unsigned char* __restrict__ right,
                int* __restrict__ distance, int* __restrict__ first) {
  int p = blockIdx.x * WARPS + threadIdx.y;
  if (p >= PAIRS) return;
  const unsigned char* a = left + (size_t)p * LENGTH;
  const unsigned char* b = right + (size_t)p * LENGTH;
  int count = 0, at = LENGTH;
  for (int start = 0; start < LENGTH; start += 32) {
    int i = start + threadIdx.x;
    unsigned differ = __ballot_sync(0xffffffffu, i < LENGTH && a[i] != b[i]);
    if (differ != 0 && count == 0) at = start + __ffs(differ) - 1;
    count += __popc(differ);
  }
  if (threadIdx.x == 0) {
    distance[p] = count;
    first[p] = at;
  }
}

int main() {
  const size_t count_left = PAIRS * LENGTH;
  std::vector<unsigned char> h_left = load<unsigned char>("data/left.bin", count_left);
  std::vector<unsigned char> h_right = load<unsigned char>("data/right.bin", count_left);
  std::vector<int> h_distance(PAIRS);
  std::vector<int> h_first(PAIRS);

  GpuArray<unsigned char> dev_left(count_left);
  GpuArray<unsigned char> dev_right(count_left);
  GpuArray<int> dev_distance(PAIRS);
  GpuArray<int> dev_first(PAIRS);
  dev_left.upload(h_left);
  dev_right.upload(h_right);

  dim3 block(32, WARPS);
  compare_ballots<<<(PAIRS + WARPS - 1) / WARPS, block>>>(dev_left.ptr, dev_right.ptr, dev_distance.ptr,
          dev_first.ptr);
  if (cudaDeviceSynchronize() != cudaSuccess) {
    std::cerr << "kernel failed" << std::endl;
    std::exit(1);
  }

  dev_distance.download(h_distance);
  dev_first.download(h_first);
  std::ofstream out_distance("data/distance.bin", std::ios::binary);
  out_distance.write(reinterpret_cast<char*>(h_distance.data()), sizeof(int) * PAIRS);
  std::ofstream out_first("data/first.bin", std::ios::binary);
  out_first.write(reinterpret_cast<char*>(h_first.data()), sizeof(int) * PAIRS);
  return 0;
}
