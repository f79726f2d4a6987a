#include <cuda_runtime.h>
#include <fstream>
#include <iostream>
#include <vector>

constexpr int PAIRS = 200;

const int THREADS = 128;

// Three rows of bytes per thread in shared memory replace the full table; all 16 columns are always computed.
__global__ void edit_rows(const unsigned char* __restrict__ first, const unsigned char* __restrict__ second,
                          const int* __restrict__ length_a, const int* __restrict__ length_b,
                          int* __restrict__ distance) {
  __shared__ unsigned char rows[3][17][THREADS];
  const int t = threadIdx.x;
  const int p = blockIdx.x * THREADS + t;
  if (p >= PAIRS) return;
  unsigned char b[16];
  for (int j = 0; j < 16; ++j) b[j] = second[p * 16 + j];
  const int n = length_a[p];
  for (int j = 0; j <= 16; ++j) rows[0][j][t] = j;
  unsigned char before = 0;
  for (int i = 1; i <= n; ++i) {
    const int now = i % 3, up = (i + 2) % 3, upup = (i + 1) % 3;
    const unsigned char ch = first[p * 16 + i - 1];
    int left = i;
    rows[now][0][t] = i;
    for (int j = 1; j <= 16; ++j) {
      int best = min(left, (int)rows[up][j][t]) + 1;
      best = min(best, rows[up][j - 1][t] + (ch != b[j - 1]));
      if (i > 1 && j > 1 && ch == b[j - 2] && before == b[j - 1]) {
        best = min(best, rows[upup][j - 2][t] + 1);
      }
      rows[now][j][t] = best;
      left = best;
    }
    before = ch;
  }
  distance[p] = rows[n % 3][length_b[p]][t];
}

int main() {
  size_t num_first = PAIRS * 16;
  std::vector<unsigned char> h_first(num_first);
  std::vector<unsigned char> h_second(num_first);
  std::vector<int> h_length_a(PAIRS);
  std::vector<int> h_length_b(PAIRS);
  std::vector<int> h_distance(PAIRS);
  std::ifstream f_first("data/first.bin", std::ios::binary);
  if (!f_first.read((char*)h_first.data(), sizeof(unsigned char) * num_first)) {
    std::cerr << "data/first.bin: read error" << std::endl;
    return 1;
  }
  std::ifstream f_second("data/second.bin", std::ios::binary);
  f_second.read((char*)h_second.data(), sizeof(unsigned char) * num_first);
  if (!f_second) {
    std::cerr << "data/second.bin: read error" << std::endl;
    return 1;
  }
  std::ifstream f_length_a("data/length_a.bin", std::ios::binary);
  if (!f_length_a.read((char*)h_length_a.data(), sizeof(int) * PAIRS)) {
    std::cerr << "data/length_a.bin: read error" << std::endl;
    return 1;
  }
  std::ifstream f_length_b("data/length_b.bin", std::ios::binary);
  f_length_b.read((char*)h_length_b.data(), sizeof(int) * PAIRS);
  if (!f_length_b) {
    std::cerr << "data/length_b.bin: read error" << std::endl;
    return 1;
  }

  unsigned char* d_first;
  cudaMalloc(&d_first, sizeof(unsigned char) * num_first);
  unsigned char* d_second;
  cudaMalloc(&d_second, sizeof(unsigned char) * num_first);
  int* d_length_a;
  cudaMalloc(&d_length_a, sizeof(int) * PAIRS);
  int* d_length_b;
  cudaMalloc(&d_length_b, sizeof(int) * PAIRS);
  int* d_distance;
  cudaMalloc(&d_distance, sizeof(int) * PAIRS);
  cudaMemcpy(d_first, h_first.data(), sizeof(unsigned char) * num_first, cudaMemcpyHostToDevice);
  cudaMemcpy(d_second, h_second.data(), sizeof(unsigned char) * num_first, cudaMemcpyHostToDevice);
  cudaMemcpy(d_length_a, h_length_a.data(), sizeof(int) * PAIRS, cudaMemcpyHostToDevice);
  cudaMemcpy(d_length_b, h_length_b.data(), sizeof(int) * PAIRS, cudaMemcpyHostToDevice);

  edit_rows<<<(PAIRS + THREADS - 1) / THREADS, THREADS>>>(d_first, d_second, d_length_a, d_length_b, d_distance);
  cudaError_t error = cudaGetLastError();
  if (error != cudaSuccess) {
    std::cerr << "CUDA error: " << cudaGetErrorString(error) << std::endl;
    return 1;
  }

  cudaMemcpy(h_distance.data(), d_distance, sizeof(int) * PAIRS, cudaMemcpyDeviceToHost);
  std::ofstream out("data/distance.bin", std::ios::binary);
  out.write((char*)h_distance.data(), sizeof(int) * PAIRS);

  cudaFree(d_first);
  cudaFree(d_second);
  cudaFree(d_length_a);
  cudaFree(d_length_b);
  cudaFree(d_distance);
  return 0;
}
