#include <fstream>
#include <iostream>
#include <vector>
#include <cuda_runtime.h>

constexpr int kBlockRows = 200;
constexpr int kBlocks = 1500;
constexpr int kSize = 3;
constexpr int kWarps = 4;

// A warp a block row, a lane a block: both norms from one reading of the values.
__global__ void both_norms(const int* __restrict__ row_start, const float* __restrict__ block,
                           float* __restrict__ row_norm, float* __restrict__ block_norm) {
  int R = blockIdx.x * kWarps + threadIdx.x / 32;
  int lane = threadIdx.x % 32;
  if (R >= kBlockRows) return;
  float sum[kSize];
  for (int r = 0; r < kSize; ++r) sum[r] = 0.0f;
  for (int b = row_start[R] + lane; b < row_start[R + 1]; b += 32) {
    const float* entry = block + (size_t)b * kSize * kSize;
    float whole = 0.0f;
    for (int r = 0; r < kSize; ++r) {
      float line = 0.0f;
      for (int c = 0; c < kSize; ++c) line += entry[r * kSize + c] * entry[r * kSize + c];
      sum[r] += line;
      whole += line;
    }
    block_norm[b] = sqrtf(whole);
  }
  for (int r = 0; r < kSize; ++r) {
    float total = sum[r];
    for (int d = 16; d > 0; d >>= 1) total += __shfl_down_sync(0xffffffffu, total, d);
    if (lane == 0) row_norm[R * kSize + r] = sqrtf(total);
  }
}

int main() {
  std::vector<int> h_row_start(kBlockRows + 1);
  std::vector<float> h_block(kBlocks * kSize * kSize);
  std::vector<float> h_row_norm(kBlockRows * kSize);
  std::vector<float> h_block_norm(kBlocks);
  std::ifstream in_row_start("data/row_start.bin", std::ios::binary);
  if (!in_row_start.read((char*)h_row_start.data(), (kBlockRows + 1) * sizeof(int))) {
    std::cerr << "cannot read data/row_start.bin\n";
    return 1;
  }
  std::ifstream in_block("data/block.bin", std::ios::binary);
  if (!in_block.read((char*)h_block.data(), kBlocks * kSize * kSize * sizeof(float))) {
    std::cerr << "cannot read data/block.bin\n";
    return 1;
  }

  int *d_row_start;
  float *d_block, *d_row_norm, *d_block_norm;
  cudaMalloc(&d_row_start, (kBlockRows + 1) * sizeof(int));
  cudaMalloc(&d_block, kBlocks * kSize * kSize * sizeof(float));
  cudaMalloc(&d_row_norm, kBlockRows * kSize * sizeof(float));
  cudaMalloc(&d_block_norm, kBlocks * sizeof(float));
  cudaMemcpy(d_row_start, h_row_start.data(), (kBlockRows + 1) * sizeof(int), cudaMemcpyHostToDevice);
  cudaMemcpy(d_block, h_block.data(), kBlocks * kSize * kSize * sizeof(float), cudaMemcpyHostToDevice);

  both_norms<<<(kBlockRows + kWarps - 1) / kWarps, 32 * kWarps>>>(d_row_start, d_block, d_row_norm,
      d_block_norm);
  cudaError_t status = cudaGetLastError();
  if (status != cudaSuccess) {
    std::cerr << "CUDA error: " << cudaGetErrorString(status) << std::endl;
    return 1;
  }

  cudaMemcpy(h_row_norm.data(), d_row_norm, kBlockRows * kSize * sizeof(float), cudaMemcpyDeviceToHost);
  cudaMemcpy(h_block_norm.data(), d_block_norm, kBlocks * sizeof(float), cudaMemcpyDeviceToHost);

  cudaFree(d_row_start);
  cudaFree(d_block);
  cudaFree(d_row_norm);
  cudaFree(d_block_norm);

  std::ofstream out_row_norm("data/row_norm.bin", std::ios::binary);
  out_row_norm.write(reinterpret_cast<const char*>(h_row_norm.data()), kBlockRows * kSize * sizeof(float));
  std::ofstream out_block_norm("data/block_norm.bin", std::ios::binary);
  out_block_norm.write(reinterpret_cast<const char*>(h_block_norm.data()), kBlocks * sizeof(float));
  return 0;
}
