#include <cfloat>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>
#include <vector>
#include <cuda_runtime.h>

template <typename T>
std::vector<T> load(const std::string& name, size_t count) {
  std::vector<T> v(count);
  std::ifstream in(name, std::ios::binary);
  if (!in.read(reinterpret_cast<char*>(v.data()), count * sizeof(T))) {
    std::cerr << "cannot load " << name << std::endl;
    std::exit(1);
  }
  return v;
}

template <typename T>
void store(const std::string& name, const std::vector<T>& v) {
  std::ofstream out(name, std::ios::binary);
  out.write(reinterpret_cast<const char*>(v.data()), v.size() * sizeof(T));
}
//@given

constexpr int VOCAB = 300;
constexpr int DIM = 64;
constexpr int BAGS = 200;
constexpr int TOTAL_ITEMS = 1500;

// One warp a bag; the row numbers are uniform over the warp and lanes cover the columns.
__global__ void bag_max_warp(const float* __restrict__ table, const int* __restrict__ items,
                             const int* __restrict__ offsets, float* __restrict__ bag) {
  const int k = blockIdx.x * blockDim.y + threadIdx.y;
  if (k >= BAGS) return;
  const int from = offsets[k], to = offsets[k + 1];
  for (int d = threadIdx.x; d < DIM; d += 32) {
    float best = -FLT_MAX;
    for (int e = from; e < to; ++e) {
      const int row = items[e];
      if (row >= 0) best = fmaxf(best, table[(size_t)row * DIM + d]);
    }
    bag[(size_t)k * DIM + d] = best == -FLT_MAX ? 0.0f : best;
  }
}

int main() {
  constexpr size_t n_table = size_t(VOCAB) * DIM;
  constexpr size_t n_offsets = (BAGS + 1);
  constexpr size_t n_bag = size_t(BAGS) * DIM;
  const auto table_host = load<float>("data/table.bin", n_table);
  const auto items_host = load<int>("data/items.bin", TOTAL_ITEMS);
  const auto offsets_host = load<int>("data/offsets.bin", n_offsets);
  std::vector<float> bag_host(n_bag);

  float* d_table = nullptr;
  int* d_items = nullptr;
  int* d_offsets = nullptr;
  float* d_bag = nullptr;
  cudaMalloc(&d_table, n_table * sizeof(float));
  cudaMalloc(&d_items, TOTAL_ITEMS * sizeof(int));
  cudaMalloc(&d_offsets, n_offsets * sizeof(int));
  cudaMalloc(&d_bag, n_bag * sizeof(float));
  cudaMemcpy(d_table, table_host.data(), table_host.size() * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemcpy(d_items, items_host.data(), items_host.size() * sizeof(int), cudaMemcpyHostToDevice);
  cudaMemcpy(d_offsets, offsets_host.data(), offsets_host.size() * sizeof(int), cudaMemcpyHostToDevice);

  dim3 block(32, 8);
  bag_max_warp<<<(BAGS + 8 - 1) / 8, block>>>(d_table, d_items, d_offsets, d_bag);
  if (const auto err = cudaDeviceSynchronize(); err != cudaSuccess) {
    std::cerr << cudaGetErrorString(err) << std::endl;
    return 1;
  }

  cudaMemcpy(bag_host.data(), d_bag, bag_host.size() * sizeof(float), cudaMemcpyDeviceToHost);
  store("data/bag.bin", bag_host);
  cudaFree(d_table);
  cudaFree(d_items);
  cudaFree(d_offsets);
  cudaFree(d_bag);
  return 0;
}
