#include <cuda_runtime.h>
#include <vector>
#include <string>
#include <cstdlib>
#include <fstream>
#include <iostream>

void load_bin(const std::string& path, void* ptr, size_t bytes) {
  std::ifstream file(path, std::ios::binary);
  if (!file.read((char*)ptr, bytes)) {
    std::cerr << "failed to read " << path << "\n";
    std::exit(1);
  }
}

void store_bin(const std::string& path, const void* ptr, size_t bytes) {
  std::ofstream stream(path, std::ios::binary);
  stream.write(reinterpret_cast<const char*>(ptr), bytes);
}
//@given

constexpr int kNodes = 1000;
constexpr int kEntries = 6000;
constexpr int kModulus = 65521;
constexpr int kBlock = 128;

static int blocks_for(int items, int block) {
  return (items + block - 1) / block;
}

__global__ void outDegrees(const int* rowStart, int* count) {
  int v = blockIdx.x * blockDim.x + threadIdx.x;
  if (v < kNodes) count[v] = (rowStart[v + 1] - rowStart[v]) % kModulus;
}

// Eight lanes a vertex; sums stay in 64 bits, so that one remainder at the end is enough.
__global__ void oneMoreEdge(const int* __restrict__ rowStart, const int* __restrict__ neighbor,
              const int* __restrict__ before, int* __restrict__ after) {
  int v = (blockIdx.x * kBlock + threadIdx.x) / 8;
  int lane = threadIdx.x % 8;
  unsigned long long sum = 0;
  if (v < kNodes) {
    for (int k = rowStart[v] + lane; k < rowStart[v + 1]; k += 8) sum += before[neighbor[k]];
  }
  for (int d = 4; d > 0; d /= 2) sum += __shfl_down_sync(0xffffffffu, sum, d, 8);
  if (v < kNodes && lane == 0) after[v] = (int)(sum % kModulus);
}

int main() {
  std::vector<int> h_row_start(kNodes + 1), h_neighbor(kEntries), h_walks(kNodes);
  load_bin("data/row_start.bin", h_row_start.data(), (kNodes + 1) * sizeof(int));
  load_bin("data/neighbor.bin", h_neighbor.data(), kEntries * sizeof(int));

  int* d_row_start;
  int* d_neighbor;
  int* d_walks;
  int* d_temp;
  cudaMalloc(&d_row_start, (kNodes + 1) * sizeof(int));
  cudaMemcpy(d_row_start, h_row_start.data(), (kNodes + 1) * sizeof(int), cudaMemcpyHostToDevice);
  cudaMalloc(&d_neighbor, kEntries * sizeof(int));
  cudaMemcpy(d_neighbor, h_neighbor.data(), kEntries * sizeof(int), cudaMemcpyHostToDevice);
  cudaMalloc(&d_walks, kNodes * sizeof(int));
  cudaMalloc(&d_temp, kNodes * sizeof(int));

  int grid = blocks_for(kNodes * 8, kBlock);
  outDegrees<<<blocks_for(kNodes, kBlock), kBlock>>>(d_row_start, d_walks);
  for (int pass = 0; pass < 2; ++pass) {
    oneMoreEdge<<<grid, kBlock>>>(d_row_start, d_neighbor, d_walks, d_temp);
    oneMoreEdge<<<grid, kBlock>>>(d_row_start, d_neighbor, d_temp, d_walks);
  }
  cudaDeviceSynchronize();
  cudaMemcpy(h_walks.data(), d_walks, kNodes * sizeof(int), cudaMemcpyDeviceToHost);

  store_bin("data/walks.bin", h_walks.data(), kNodes * sizeof(int));

  cudaFree(d_row_start);
  cudaFree(d_neighbor);
  cudaFree(d_walks);
  cudaFree(d_temp);
  return 0;
}
