#include <fstream>
#include <iostream>
#include <cuda_runtime.h>

constexpr int NODES = 1000;
constexpr int ENTRIES = 6000;
constexpr int MODULUS = 65521;
constexpr int LENGTH = 5;

__global__ void set_ones(int* count) {
  int v = blockIdx.x * blockDim.x + threadIdx.x;
  if (v < NODES) count[v] = 1;
}

__global__ void extend_walks(const int* row_start, const int* neighbor, const int* before, int* after) {
  int v = blockIdx.x * blockDim.x + threadIdx.x;
  if (v >= NODES) return;
  int sum = 0;
  for (int k = row_start[v]; k < row_start[v + 1]; ++k) {
    sum = (sum + before[neighbor[k]]) % MODULUS;
  }
  after[v] = sum;
}

int main() {
  int* row_start;
  int* neighbor;
  int* walks;
  int* temp;

  cudaMallocManaged(&row_start, (NODES + 1) * sizeof(int));
  cudaMallocManaged(&neighbor, ENTRIES * sizeof(int));
  cudaMallocManaged(&walks, NODES * sizeof(int));
  cudaMallocManaged(&temp, NODES * sizeof(int));

  std::ifstream row_start_file("data/row_start.bin", std::ios::binary);
  row_start_file.read(reinterpret_cast<char*>(row_start), (NODES + 1) * sizeof(int));
  std::ifstream neighbor_file("data/neighbor.bin", std::ios::binary);
  neighbor_file.read(reinterpret_cast<char*>(neighbor), ENTRIES * sizeof(int));
  if (!row_start_file || !neighbor_file) {
    std::cerr << "input missing or too short\n";
    return 1;
  }

  int grid = (NODES + 255) / 256;
  int* before = temp;
  int* after = walks;
  set_ones<<<grid, 256>>>(before);
  for (int t = 0; t < LENGTH; ++t) {
    extend_walks<<<grid, 256>>>(row_start, neighbor, before, after);
    int* swap = before;
    before = after;
    after = swap;
  }
  if (cudaDeviceSynchronize() != cudaSuccess) {
    std::cerr << "kernel failed: " << cudaGetErrorString(cudaGetLastError()) << "\n";
    return 1;
  }

  std::ofstream("data/walks.bin", std::ios::binary).write(reinterpret_cast<char*>(walks),
      NODES * sizeof(int));

  cudaFree(row_start);
  cudaFree(neighbor);
  cudaFree(walks);
  cudaFree(temp);
}
