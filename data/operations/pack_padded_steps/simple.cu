#include <cstdio>
#include <cuda_runtime.h>

constexpr int kBatch = 12;
constexpr int kSteps = 40;
constexpr int kDim = 50;

__global__ void find_starts(const int* lengths, int* starts) {
  int sum = 0;
  for (int b = 0; b < kBatch; ++b) {
    starts[b] = sum;
    sum += lengths[b];
  }
  starts[kBatch] = sum;
}

__global__ void copy_steps(const float* padded, const int* lengths, const int* starts, float* packed) {
  int d = blockIdx.x * blockDim.x + threadIdx.x;
  int t = blockIdx.y;
  int b = blockIdx.z;
  if (d >= kDim || t >= lengths[b]) return;
  packed[(size_t)(starts[b] + t) * kDim + d] = padded[((size_t)b * kSteps + t) * kDim + d];
}

int main() {
  const int padded_count = kBatch * kSteps * kDim;
  const int starts_count = (kBatch + 1);
  float *padded, *packed;
  int *lengths, *starts;
  cudaMallocManaged(&padded, padded_count * sizeof(float));
  cudaMallocManaged(&lengths, kBatch * sizeof(int));
  cudaMallocManaged(&packed, padded_count * sizeof(float));
  cudaMallocManaged(&starts, starts_count * sizeof(int));

  FILE* f_padded = fopen("data/padded.bin", "rb");
  if (!f_padded || fread(padded, sizeof(float), padded_count, f_padded) != padded_count) {
    fprintf(stderr, "cannot read data/padded.bin\n");
    return 1;
  }
  fclose(f_padded);
  FILE* f_lengths = fopen("data/lengths.bin", "rb");
  if (!f_lengths || fread(lengths, sizeof(int), kBatch, f_lengths) != kBatch) {
    fprintf(stderr, "cannot read data/lengths.bin\n");
    return 1;
  }
  fclose(f_lengths);
  cudaMemset(packed, 0, padded_count * sizeof(float));

  find_starts<<<1, 1>>>(lengths, starts);
  dim3 grid((kDim + 64 - 1) / 64, kSteps, kBatch);
  copy_steps<<<grid, 64>>>(padded, lengths, starts, packed);
  cudaDeviceSynchronize();

  FILE* f_packed = fopen("data/packed.bin", "wb");
  if (!f_packed || fwrite(packed, sizeof(float), padded_count, f_packed) != padded_count) return 1;
  fclose(f_packed);
  FILE* f_starts = fopen("data/starts.bin", "wb");
  if (!f_starts || fwrite(starts, sizeof(int), starts_count, f_starts) != starts_count) return 1;
  fclose(f_starts);

  cudaFree(padded);
  cudaFree(lengths);
  cudaFree(packed);
  cudaFree(starts);
  return 0;
}
