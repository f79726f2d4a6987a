#include <cstdio>
#include <cstdlib>
#include <vector>
#include <cuda_runtime.h>

inline void check(cudaError_t status, const char* what) {
  if (status != cudaSuccess) {
    fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(status));
    exit(1);
  }
}

static bool readFile(const char* path, void* data, size_t bytes) {
  FILE* f = fopen(path, "rb");
  if (!f) return false;
  bool ok = fread(data, 1, bytes, f) == bytes;
  fclose(f);
  return ok;
}

static bool writeFile(const char* path, const void* data, size_t bytes) {
  FILE* f = fopen(path, "wb");
  if (!f) return false;
  bool ok = fwrite(data, 1, bytes, f) == bytes;
  fclose(f);
  return ok;
}

constexpr int kRows = 70;
constexpr int kCols = 300;
constexpr int kBlock = 128;
constexpr int kSpan = (kCols + kBlock - 1) / kBlock;

// Sums of contiguous pieces first; then only the thread whose piece crosses the half walks through it again.
__global__ void half_total_pieces(const int* __restrict__ counts, int* position, long long* total) {
  __shared__ long long sums[kBlock];
  __shared__ int found;
  const int* row = counts + (size_t)blockIdx.x * kCols;
  int t = threadIdx.x;
  int begin = min(t * kSpan, kCols), end = min(begin + kSpan, kCols);
  long long own = 0;
  for (int c = begin; c < end; ++c) own += row[c];
  sums[t] = own;
  if (t == 0) found = kCols;
  __syncthreads();
  for (int s = 1; s < kBlock; s *= 2) {
    long long left = t >= s ? sums[t - s] : 0;
    __syncthreads();
    sums[t] += left;
    __syncthreads();
  }
  long long whole = sums[kBlock - 1];
  long long running = sums[t] - own;
  if (begin < end && 2 * sums[t] >= whole && (t == 0 || 2 * running < whole)) {
    int c = begin;
    running += row[c];
    while (2 * running < whole) running += row[++c];
    atomicMin(&found, c);
  }
  __syncthreads();
  if (t == 0) {
    position[blockIdx.x] = found;
    total[blockIdx.x] = whole;
  }
}

int main() {
  std::vector<int> counts(kRows * kCols);
  std::vector<int> position(kRows);
  std::vector<long long> total(kRows);
  if (!readFile("data/counts.bin", counts.data(), kRows * kCols * sizeof(int))) {
    fprintf(stderr, "cannot read data/counts.bin\n");
    return 1;
  }

  int* counts_d;
  int* position_d;
  long long* total_d;
  check(cudaMalloc(&counts_d, kRows * kCols * sizeof(int)), "allocate counts_d");
  check(cudaMalloc(&position_d, kRows * sizeof(int)), "allocate position_d");
  check(cudaMalloc(&total_d, kRows * sizeof(long long)), "allocate total_d");
  check(cudaMemcpy(counts_d, counts.data(), kRows * kCols * sizeof(int), cudaMemcpyHostToDevice), "copy counts_d");

  half_total_pieces<<<kRows, kBlock>>>(counts_d, position_d, total_d);
  check(cudaGetLastError(), "launch");
  check(cudaMemcpy(position.data(), position_d, kRows * sizeof(int), cudaMemcpyDeviceToHost), "copy position");
  check(cudaMemcpy(total.data(), total_d, kRows * sizeof(long long), cudaMemcpyDeviceToHost), "copy total");

  if (!writeFile("data/position.bin", position.data(), kRows * sizeof(int))) {
    fprintf(stderr, "cannot write data/position.bin\n");
    return 1;
  }
  if (!writeFile("data/total.bin", total.data(), kRows * sizeof(long long))) {
    fprintf(stderr, "cannot write data/total.bin\n");
    return 1;
  }
  cudaFree(counts_d);
  cudaFree(position_d);
  cudaFree(total_d);
  return 0;
}
