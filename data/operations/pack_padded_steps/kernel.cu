#include <cuda_runtime.h>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>

void readArray(const std::string& name, void* data, size_t size) {
  std::ifstream stream(name, std::ios::binary);
  stream.read(reinterpret_cast<char*>(data), size);
  if (!stream) {
    std::cerr << "failed to read " << name << "\n";
    exit(1);
  }
}

void writeArray(const std::string& name, const void* data, size_t size) {
  std::ofstream file(name, std::ios::binary);
  file.write(reinterpret_cast<const char*>(data), size);
}
//@given

static const int BATCH = 12;
static const int STEPS = 40;
static const int DIM = 50;

// One warp makes the starts: 32 lengths at a time with a shuffle scan.
__global__ void scan_lengths(const int* __restrict__ lengths, int* __restrict__ starts) {
  const int lane = threadIdx.x;
  int carry = 0;
  for (int first = 0; first < BATCH; first += 32) {
    const int b = first + lane;
    const int own = b < BATCH ? lengths[b] : 0;
    int sum = own;
    for (int s = 1; s < 32; s *= 2) {
      const int left = __shfl_up_sync(0xffffffffu, sum, s);
      if (lane >= s) sum += left;
    }
    if (b < BATCH) starts[b] = carry + sum - own;
    carry += __shfl_sync(0xffffffffu, sum, 31);
  }
  if (lane == 0) starts[BATCH] = carry;
}

// Gather form: a block fills one output row; its sequence is found by bisection of the starts.
__global__ void gather_rows(const float* __restrict__ padded, const int* __restrict__ starts,
                            float* __restrict__ packed) {
  const int row = blockIdx.x;
  float* out = packed + (size_t)row * DIM;
  if (row >= starts[BATCH]) {
    for (int d = threadIdx.x; d < DIM; d += blockDim.x) out[d] = 0.0f;
    return;
  }
  int lo = 0, hi = BATCH;
  while (hi - lo > 1) {
    const int mid = (lo + hi) / 2;
    if (starts[mid] <= row) lo = mid;
    else hi = mid;
  }
  const float* in = padded + ((size_t)lo * STEPS + row - starts[lo]) * DIM;
  for (int d = threadIdx.x; d < DIM; d += blockDim.x) out[d] = in[d];
}

int main() {
  const size_t padded_size = BATCH * STEPS * DIM;
  const size_t starts_size = (BATCH + 1);
  float* host_padded = new float[padded_size];
  int* host_lengths = new int[BATCH];
  float* host_packed = new float[padded_size];
  int* host_starts = new int[starts_size];
  readArray("data/padded.bin", host_padded, padded_size * sizeof(float));
  readArray("data/lengths.bin", host_lengths, BATCH * sizeof(int));

  float* d_padded;
  int* d_lengths;
  float* d_packed;
  int* d_starts;
  cudaMalloc(&d_padded, padded_size * sizeof(float));
  cudaMalloc(&d_lengths, BATCH * sizeof(int));
  cudaMalloc(&d_packed, padded_size * sizeof(float));
  cudaMalloc(&d_starts, starts_size * sizeof(int));
  cudaMemcpy(d_padded, host_padded, padded_size * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemcpy(d_lengths, host_lengths, BATCH * sizeof(int), cudaMemcpyHostToDevice);

  scan_lengths<<<1, 32>>>(d_lengths, d_starts);
  gather_rows<<<BATCH * STEPS, 64>>>(d_padded, d_starts, d_packed);

  cudaMemcpy(host_packed, d_packed, padded_size * sizeof(float), cudaMemcpyDeviceToHost);
  cudaMemcpy(host_starts, d_starts, starts_size * sizeof(int), cudaMemcpyDeviceToHost);
  writeArray("data/packed.bin", host_packed, padded_size * sizeof(float));
  writeArray("data/starts.bin", host_starts, starts_size * sizeof(int));

  cudaFree(d_padded);
  cudaFree(d_lengths);
  cudaFree(d_packed);
  cudaFree(d_starts);
  delete[] host_padded;
  delete[] host_lengths;
  delete[] host_packed;
  delete[] host_starts;
  return 0;
}
