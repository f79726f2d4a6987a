#include <vector>
#include <iostream>
#include <fstream>
#include <cuda_runtime.h>

#define DIAGONALS 5
#define N 4000
#define THREADS 256

// Two rows a thread, half a block's span apart; the offsets are read once into shared memory.
__global__ void multiply_bands(const int* __restrict__ offset, const float* __restrict__ band,
                               const float* __restrict__ x, float* __restrict__ y) {
  __shared__ int shift[DIAGONALS];
  if (threadIdx.x < DIAGONALS) shift[threadIdx.x] = offset[threadIdx.x];
  __syncthreads();
  int i = blockIdx.x * 2 * THREADS + threadIdx.x;
  int k = i + THREADS;
  float sum_i = 0.0f, sum_k = 0.0f;
  for (int d = 0; d < DIAGONALS; ++d) {
    const float* values = band + (size_t)d * N;
    int ci = i + shift[d], ck = k + shift[d];
    if (i < N && ci >= 0 && ci < N) sum_i = fmaf(values[i], x[ci], sum_i);
    if (k < N && ck >= 0 && ck < N) sum_k = fmaf(values[k], x[ck], sum_k);
  }
  if (i < N) y[i] = sum_i;
  if (k < N) y[k] = sum_k;
}

int main() {
  std::vector<int> h_offset(DIAGONALS);
  std::vector<float> h_band(DIAGONALS * N);
  std::vector<float> h_x(N);
  std::vector<float> h_y(N);
  std::ifstream is_offset("data/offset.bin", std::ios::binary);
  if (!is_offset.read((char*)h_offset.data(), DIAGONALS * sizeof(int))) {
    std::cerr << "cannot read data/offset.bin\n";
    return 1;
  }
  std::ifstream is_band("data/band.bin", std::ios::binary);
  is_band.read(reinterpret_cast<char*>(h_band.data()), DIAGONALS * N * sizeof(float));
  if (!is_band) {
    std::cerr << "missing data/band.bin" << std::endl;
    return 1;
  }
  std::ifstream is_x("data/x.bin", std::ios::binary);
  is_x.read(reinterpret_cast<char*>(h_x.data()), N * sizeof(float));
  if (!is_x) {
    std::cerr << "failed to read data/x.bin" << std::endl;
    return 1;
  }

  int *d_offset;
  float *d_band, *d_x, *d_y;
  cudaMalloc(&d_offset, DIAGONALS * sizeof(int));
  cudaMalloc(&d_band, DIAGONALS * N * sizeof(float));
  cudaMalloc(&d_x, N * sizeof(float));
  cudaMalloc(&d_y, N * sizeof(float));
  cudaMemcpy(d_offset, h_offset.data(), DIAGONALS * sizeof(int), cudaMemcpyHostToDevice);
  cudaMemcpy(d_band, h_band.data(), DIAGONALS * N * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemcpy(d_x, h_x.data(), N * sizeof(float), cudaMemcpyHostToDevice);

  multiply_bands<<<(N + 2 * THREADS - 1) / (2 * THREADS), THREADS>>>(d_offset, d_band, d_x, d_y);
  cudaError_t status = cudaDeviceSynchronize();
  if (status != cudaSuccess) {
    std::cerr << "CUDA error: " << cudaGetErrorString(status) << std::endl;
    return 1;
  }

  cudaMemcpy(h_y.data(), d_y, N * sizeof(float), cudaMemcpyDeviceToHost);

  cudaFree(d_offset);
  cudaFree(d_band);
  cudaFree(d_x);
  cudaFree(d_y);

  std::ofstream fout("data/y.bin", std::ios::binary);
  fout.write(reinterpret_cast<const char*>(h_y.data()), N * sizeof(float));
  return 0;
}
