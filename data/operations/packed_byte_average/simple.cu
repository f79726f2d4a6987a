#include <fstream>
#include <iostream>
#include <string>

#include <cuda_runtime.h>

void load_array(const std::string& path, unsigned int* out, size_t size) {
  std::ifstream file(path, std::ios::binary);
  if (!file.read(reinterpret_cast<char*>(out), size * sizeof(unsigned int))) {
    std::cerr << "failed to read " << path << '\n';
    exit(EXIT_FAILURE);
  }
}

void save_array(const std::string& path, const unsigned int* in, size_t size) {
  std::ofstream file(path, std::ios::binary);
  file.write(reinterpret_cast<const char*>(in), size * sizeof(unsigned int));
}
//@given

static const int N = 18000;

__global__ void byte_ops(const unsigned int* a, const unsigned int* b, unsigned int* mean, unsigned int* diff, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    unsigned int m = 0, d = 0;
    for (int shift = 0; shift < 32; shift += 8) {
      int x = (a[i] >> shift) & 255;
      int y = (b[i] >> shift) & 255;
      m |= (unsigned int)((x + y + 1) / 2) << shift;
      d |= (unsigned int)abs(x - y) << shift;
    }
    mean[i] = m;
    diff[i] = d;
  }
}

int main(void) {
  unsigned int* h_a = new unsigned int[N];
  unsigned int* h_b = new unsigned int[N];
  unsigned int* h_mean = new unsigned int[N];
  unsigned int* h_diff = new unsigned int[N];
  load_array("data/a.bin", h_a, N);
  load_array("data/b.bin", h_b, N);

  unsigned int *d_a = nullptr, *d_b = nullptr, *d_mean = nullptr, *d_diff = nullptr;
  cudaMalloc(&d_a, N * sizeof(unsigned int));
  cudaMalloc(&d_b, N * sizeof(unsigned int));
  cudaMalloc(&d_mean, N * sizeof(unsigned int));
  cudaMalloc(&d_diff, N * sizeof(unsigned int));
  cudaMemcpy(d_a, h_a, N * sizeof(unsigned int), cudaMemcpyHostToDevice);
  cudaMemcpy(d_b, h_b, N * sizeof(unsigned int), cudaMemcpyHostToDevice);

  const int threads = 256;
  byte_ops<<<(N + threads - 1) / threads, threads>>>(d_a, d_b, d_mean, d_diff, N);
  cudaDeviceSynchronize();

  cudaMemcpy(h_mean, d_mean, N * sizeof(unsigned int), cudaMemcpyDeviceToHost);
  cudaMemcpy(h_diff, d_diff, N * sizeof(unsigned int), cudaMemcpyDeviceToHost);
  save_array("data/mean.bin", h_mean, N);
  save_array("data/diff.bin", h_diff, N);

  cudaFree(d_a);
  cudaFree(d_b);
  cudaFree(d_mean);
  cudaFree(d_diff);
  delete[] h_a;
  delete[] h_b;
  delete[] h_mean;
  delete[] h_diff;
  return 0;
}
