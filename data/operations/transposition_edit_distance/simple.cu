#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>
#include <cuda_runtime.h>

void load_array(const std::string& path, void* buffer, size_t bytes) {
  std::ifstream in(path, std::ios::binary);
  if (!in.read(static_cast<char*>(buffer), bytes)) {
    std::cerr << "could not load " << path << std::endl;
    std::exit(1);
  }
}

void save_array(const std::string& path, const void* buffer, size_t bytes) {
  std::ofstream out(path, std::ios::binary);
  out.write(static_cast<const char*>(buffer), bytes);
}
//@given

inline int ceil_div(int a, int b) {
  return (a + b - 1) / b;
}

constexpr int PAIRS = 200;

__global__ void edit_distance(const unsigned char* first, const unsigned char* second, const int* length_a,
                              const int* length_b, int* distance) {
  int p = blockIdx.x * blockDim.x + threadIdx.x;
  if (p >= PAIRS) return;
  const unsigned char* a = first + p * 16;
  const unsigned char* b = second + p * 16;
  int n = length_a[p], m = length_b[p];
  int d[17][17];
  for (int i = 0; i <= n; i++) d[i][0] = i;
  for (int j = 0; j <= m; j++) d[0][j] = j;
  for (int i = 1; i <= n; i++) {
    for (int j = 1; j <= m; j++) {
      int best = min(d[i - 1][j], d[i][j - 1]) + 1;
      best = min(best, d[i - 1][j - 1] + (a[i - 1] != b[j - 1]));
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        best = min(best, d[i - 2][j - 2] + 1);
      }
      d[i][j] = best;
    }
  }
  distance[p] = d[n][m];
}

int main() {
  unsigned char* first = new unsigned char[PAIRS * 16];
  unsigned char* second = new unsigned char[PAIRS * 16];
  int* length_a = new int[PAIRS];
  int* length_b = new int[PAIRS];
  int* distance = new int[PAIRS];
  load_array("data/first.bin", first, PAIRS * 16 * sizeof(unsigned char));
  load_array("data/second.bin", second, PAIRS * 16 * sizeof(unsigned char));
  load_array("data/length_a.bin", length_a, PAIRS * sizeof(int));
  load_array("data/length_b.bin", length_b, PAIRS * sizeof(int));

  unsigned char* dev_first = nullptr;
  unsigned char* dev_second = nullptr;
  int* dev_length_a = nullptr;
  int* dev_length_b = nullptr;
  int* dev_distance = nullptr;
  cudaMalloc(&dev_first, PAIRS * 16 * sizeof(unsigned char));
  cudaMalloc(&dev_second, PAIRS * 16 * sizeof(unsigned char));
  cudaMalloc((void**)&dev_length_a, PAIRS * sizeof(int));
  cudaMalloc((void**)&dev_length_b, PAIRS * sizeof(int));
  cudaMalloc((void**)&dev_distance, PAIRS * sizeof(int));
  cudaMemcpy(dev_first, first, PAIRS * 16 * sizeof(unsigned char), cudaMemcpyHostToDevice);
  cudaMemcpy(dev_second, second, PAIRS * 16 * sizeof(unsigned char), cudaMemcpyHostToDevice);
  cudaMemcpy(dev_length_a, length_a, PAIRS * sizeof(int), cudaMemcpyHostToDevice);
  cudaMemcpy(dev_length_b, length_b, PAIRS * sizeof(int), cudaMemcpyHostToDevice);

  edit_distance<<<ceil_div(PAIRS, 64), 64>>>(dev_first, dev_second, dev_length_a, dev_length_b, dev_distance);
  cudaDeviceSynchronize();

  cudaMemcpy(distance, dev_distance, PAIRS * sizeof(int), cudaMemcpyDeviceToHost);
  save_array("data/distance.bin", distance, PAIRS * sizeof(int));

  cudaFree(dev_first);
  cudaFree(dev_second);
  cudaFree(dev_length_a);
  cudaFree(dev_length_b);
  cudaFree(dev_distance);
  delete[] first;
  delete[] second;
  delete[] length_a;
  delete[] length_b;
  delete[] distance;
  return 0;
}
