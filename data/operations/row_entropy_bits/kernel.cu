#include <cuda_runtime.h>
#include <cstdio>
#include <cstdlib>
#include <string>

void read_binary(const std::string& path, void* buffer, size_t bytes) {
  FILE* f = fopen(path.c_str(), "rb");
  if (f == nullptr || fread(buffer, 1, bytes, f) != bytes) {
    fprintf(stderr, "cannot read %s\n", path.c_str());
    exit(1);
  }
  fclose(f);
}

void write_binary(const std::string& path, const void* buffer, size_t bytes) {
  FILE* f = fopen(path.c_str(), "wb");
  if (f == nullptr || fwrite(buffer, 1, bytes, f) != bytes) {
    fprintf(stderr, "cannot write %s\n", path.c_str());
    exit(1);
  }
  fclose(f);
}
//@given

constexpr int kRows = 80;
constexpr int kCols = 256;
constexpr int kBlock = 128;

// First the sum, then -sum p * log2(p): the same value from the normalised counts.
__global__ void row_entropy_two_pass(const int* __restrict__ counts, float* __restrict__ entropy) {
  __shared__ int totals[kBlock / 32];
  __shared__ float parts[kBlock / 32];
  const int* row = counts + (size_t)blockIdx.x * kCols;
  int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  int total = 0;
  for (int c = threadIdx.x; c < kCols; c += kBlock) total += row[c];
  for (int s = 16; s > 0; s /= 2) total += __shfl_xor_sync(0xffffffffu, total, s);
  if (lane == 0) totals[warp] = total;
  __syncthreads();
  total = 0;
  for (int k = 0; k < kBlock / 32; ++k) total += totals[k];
  float inv = total > 0 ? 1.0f / total : 0.0f;
  float h = 0.0f;
  for (int c = threadIdx.x; c < kCols; c += kBlock) {
    float p = row[c] * inv;
    if (p > 0.0f) h -= p * log2f(p);
  }
  for (int s = 16; s > 0; s /= 2) h += __shfl_xor_sync(0xffffffffu, h, s);
  if (lane == 0) parts[warp] = h;
  __syncthreads();
  if (threadIdx.x == 0) {
    for (int k = 1; k < kBlock / 32; ++k) h += parts[k];
    entropy[blockIdx.x] = h;
  }
}

int main() {
  const size_t elements = (size_t)kRows * kCols;
  int* counts = new int[elements];
  read_binary("data/counts.bin", counts, elements * sizeof(int));
  float* entropy = new float[kRows];

  int* d_counts = nullptr;
  float* d_entropy = nullptr;
  cudaMalloc(&d_counts, elements * sizeof(int));
  cudaMalloc(&d_entropy, kRows * sizeof(float));
  cudaMemcpy(d_counts, counts, elements * sizeof(int), cudaMemcpyHostToDevice);

  row_entropy_two_pass<<<kRows, kBlock>>>(d_counts, d_entropy);
  cudaDeviceSynchronize();

  cudaMemcpy(entropy, d_entropy, kRows * sizeof(float), cudaMemcpyDeviceToHost);
  write_binary("data/entropy.bin", entropy, kRows * sizeof(float));

  cudaFree(d_counts);
  cudaFree(d_entropy);
  delete[] counts;
  delete[] entropy;
  return 0;
}
