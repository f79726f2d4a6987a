#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>
#include <vector>
#include <cuda_runtime.h>

template <typename T>
std::vector<T> loadVec(const std::string& path, size_t count) {
  std::vector<T> v(count);
  std::ifstream file(path, std::ios::binary);
  if (!file.read(reinterpret_cast<char*>(v.data()), count * sizeof(T))) {
    std::cerr << "failed to read " << path << '\n';
    std::exit(1);
  }
  return v;
}

template <typename T>
void storeVec(const std::string& path, const std::vector<T>& v) {
  std::ofstream file(path, std::ios::binary);
  file.write(reinterpret_cast<const char*>(v.data()), v.size() * sizeof(T));
}
//@given

constexpr int kRows = 300;
constexpr int kSize = 24;
constexpr int kBlock = 64;

// Each element walks along its cycle and gives up when it meets a smaller one, so only the least one counts.
__global__ void cycles_by_leader(const int* __restrict__ next_index, int* __restrict__ cycle_count,
                                 int* __restrict__ longest, int* __restrict__ sign) {
  __shared__ int p[kSize];
  __shared__ int found, best;
  const int r = blockIdx.x;
  if (threadIdx.x == 0) {
    found = 0;
    best = 0;
  }
  for (int i = threadIdx.x; i < kSize; i += kBlock) p[i] = next_index[(size_t)r * kSize + i];
  __syncthreads();
  for (int i = threadIdx.x; i < kSize; i += kBlock) {
    int steps = 1, j = p[i];
    while (j > i) {
      j = p[j];
      ++steps;
    }
    if (j == i) {
      atomicAdd(&found, 1);
      atomicMax(&best, steps);
    }
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    cycle_count[r] = found;
    longest[r] = best;
    sign[r] = 1 - 2 * ((kSize - found) & 1);
  }
}

int main() {
  const size_t n = kRows * kSize;
  auto next_index = loadVec<int>("data/next_index.bin", n);
  std::vector<int> cycle_count(kRows);
  std::vector<int> longest(kRows);
  std::vector<int> sign(kRows);

  int *d_next_index, *d_cycle_count, *d_longest, *d_sign;
  cudaMalloc(&d_next_index, next_index.size() * sizeof(int));
  cudaMalloc(&d_cycle_count, cycle_count.size() * sizeof(int));
  cudaMalloc(&d_longest, longest.size() * sizeof(int));
  cudaMalloc(&d_sign, sign.size() * sizeof(int));
  cudaMemcpy(d_next_index, next_index.data(), next_index.size() * sizeof(int), cudaMemcpyHostToDevice);

  cycles_by_leader<<<kRows, kBlock>>>(d_next_index, d_cycle_count, d_longest, d_sign);
  if (auto err = cudaDeviceSynchronize(); err != cudaSuccess) {
    std::cerr << cudaGetErrorString(err) << '\n';
    return 1;
  }

  cudaMemcpy(cycle_count.data(), d_cycle_count, cycle_count.size() * sizeof(int), cudaMemcpyDeviceToHost);
  storeVec("data/cycle_count.bin", cycle_count);
  cudaMemcpy(longest.data(), d_longest, longest.size() * sizeof(int), cudaMemcpyDeviceToHost);
  storeVec("data/longest.bin", longest);
  cudaMemcpy(sign.data(), d_sign, sign.size() * sizeof(int), cudaMemcpyDeviceToHost);
  storeVec("data/sign.bin", sign);
  cudaFree(d_next_index);
  cudaFree(d_cycle_count);
  cudaFree(d_longest);
  cudaFree(d_sign);
  return 0;
}
