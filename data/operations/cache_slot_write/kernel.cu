#include <fstream>
#include <iostream>
#include <vector>
#include <cuda_runtime.h>

constexpr int kBatch = 2;
constexpr int kHeads = 3;
constexpr int kSlots = 50;
constexpr int kDim = 32;
constexpr int kTokens = 20;

__global__ void find_owners(const int* slot, int* owner) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < kBatch * kTokens && slot[i] >= 0) owner[i / kTokens * kSlots + slot[i]] = i % kTokens;
}

// Each cache vector is written exactly once, from the old cache or from the token that owns its slot.
__global__ void fill_cache(const float* __restrict__ cache, const float* __restrict__ fresh,
                           const int* __restrict__ owner, float* __restrict__ updated) {
  const int v = blockIdx.x * blockDim.y + threadIdx.y;
  if (v >= kBatch * kHeads * kSlots) return;
  const int s = v % kSlots;
  const int h = v / kSlots % kHeads;
  const int b = v / (kSlots * kHeads);
  const int t = owner[b * kSlots + s];
  const float* src = t < 0 ? cache + (size_t)v * kDim : fresh + ((size_t)(b * kTokens + t) * kHeads + h) * kDim;
  for (int d = threadIdx.x; d < kDim; d += 32) updated[(size_t)v * kDim + d] = src[d];
}

int main() {
  size_t cacheSize = (size_t)kBatch * kHeads * kSlots * kDim;
  size_t freshSize = (size_t)kBatch * kTokens * kHeads * kDim;
  size_t slotSize = (size_t)kBatch * kTokens;
  size_t ownerSize = kBatch * kSlots;
  std::vector<float> h_cache(cacheSize);
  std::vector<float> h_fresh(freshSize);
  std::vector<int> h_slot(slotSize);
  std::vector<float> h_updated(cacheSize);
  std::ifstream cache_file("data/cache.bin", std::ios::binary);
  cache_file.read(reinterpret_cast<char*>(h_cache.data()), cacheSize * sizeof(float));
  if (!cache_file) {
    std::cerr << "cannot read data/cache.bin\n";
    return 1;
  }
  std::ifstream fresh_file("data/fresh.bin", std::ios::binary);
  fresh_file.read(reinterpret_cast<char*>(h_fresh.data()), freshSize * sizeof(float));
  if (!fresh_file) {
    std::cerr << "cannot read data/fresh.bin\n";
    return 1;
  }
  std::ifstream slot_file("data/slot.bin", std::ios::binary);
  slot_file.read(reinterpret_cast<char*>(h_slot.data()), slotSize * sizeof(int));
  if (!slot_file) {
    std::cerr << "cannot read data/slot.bin\n";
    return 1;
  }

  float *d_cache, *d_fresh, *d_updated;
  int *d_slot, *d_owner;
  cudaMalloc(&d_cache, cacheSize * sizeof(float));
  cudaMalloc(&d_fresh, freshSize * sizeof(float));
  cudaMalloc(&d_slot, slotSize * sizeof(int));
  cudaMalloc(&d_updated, cacheSize * sizeof(float));
  cudaMalloc(&d_owner, ownerSize * sizeof(int));
  cudaMemcpy(d_cache, h_cache.data(), cacheSize * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemcpy(d_fresh, h_fresh.data(), freshSize * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemcpy(d_slot, h_slot.data(), slotSize * sizeof(int), cudaMemcpyHostToDevice);

  cudaMemset(d_owner, 0xff, ownerSize * sizeof(int));
  find_owners<<<(kBatch * kTokens + 256 - 1) / 256, 256>>>(d_slot, d_owner);
  fill_cache<<<(kBatch * kHeads * kSlots + 8 - 1) / 8, dim3(32, 8)>>>(d_cache, d_fresh, d_owner, d_updated);
  cudaError_t status = cudaDeviceSynchronize();
  if (status != cudaSuccess) {
    std::cerr << "CUDA error: " << cudaGetErrorString(status) << '\n';
    return 1;
  }
  cudaMemcpy(h_updated.data(), d_updated, cacheSize * sizeof(float), cudaMemcpyDeviceToHost);

  std::ofstream updated_file("data/updated.bin", std::ios::binary);
  updated_file.write(reinterpret_cast<const char*>(h_updated.data()), cacheSize * sizeof(float));

  cudaFree(d_cache);
  cudaFree(d_fresh);
  cudaFree(d_slot);
  cudaFree(d_updated);
  cudaFree(d_owner);
  return 0;
}
