#include <fstream>
#include <iostream>
#include <vector>
#include <cuda_runtime.h>

#define VOCAB 200
#define DIM 32
#define TOKENS 900
#define BAGS 70
#define CHUNK 64
const size_t table_count = (size_t)VOCAB * DIM;
const size_t offsets_count = BAGS + 1;
const size_t pooled_count = (size_t)BAGS * DIM;

__global__ void pool_bags_staged(const float* __restrict__ table, const int* __restrict__ ids,
                                 const float* __restrict__ weights, const int* __restrict__ offsets,
                                 float* __restrict__ pooled) {
  __shared__ int sid[CHUNK];
  __shared__ float sw[CHUNK];
  const int begin = offsets[blockIdx.x], end = offsets[blockIdx.x + 1];
  for (int first = 0; first < DIM; first += CHUNK) {
    const int d = first + threadIdx.x;
    float sum = 0.0f, mass = 0.0f;
    for (int base = begin; base < end; base += CHUNK) {
      // The block stages up to 64 tokens, padding with weight zero.
      const int t = base + threadIdx.x;
      __syncthreads();
      if (t < end) {
        sid[threadIdx.x] = ids[t];
        sw[threadIdx.x] = ids[t] == 0 ? 0.0f : weights[t];
      }
      __syncthreads();
      const int n = min(CHUNK, end - base);
      for (int k = 0; k < n; ++k) {
        mass += sw[k];
        if (d < DIM) sum = fmaf(sw[k], table[(size_t)sid[k] * DIM + d], sum);
      }
    }
    if (d < DIM) pooled[(size_t)blockIdx.x * DIM + d] = mass > 0.0f ? sum / mass : 0.0f;
  }
}

void solve(const float* d_table, const int* d_ids, const float* d_weights, const int* d_offsets,
           float* d_pooled) {
  pool_bags_staged<<<BAGS, CHUNK>>>(d_table, d_ids, d_weights, d_offsets, d_pooled);
}

int main() {
  std::vector<float> table(table_count);
  std::vector<int> ids(TOKENS);
  std::vector<float> weights(TOKENS);
  std::vector<int> offsets(offsets_count);
  std::vector<float> pooled(pooled_count);
  std::ifstream table_stream("data/table.bin", std::ios::binary);
  if (!table_stream.read((char*)table.data(), table_count * sizeof(float))) {
    std::cerr << "missing data/table.bin\n";
    return 1;
  }
  std::ifstream ids_stream("data/ids.bin", std::ios::binary);
  if (!ids_stream.read((char*)ids.data(), TOKENS * sizeof(int))) {
    std::cerr << "missing data/ids.bin\n";
    return 1;
  }
  std::ifstream weights_stream("data/weights.bin", std::ios::binary);
  if (!weights_stream.read((char*)weights.data(), TOKENS * sizeof(float))) {
    std::cerr << "missing data/weights.bin\n";
    return 1;
  }
  std::ifstream offsets_stream("data/offsets.bin", std::ios::binary);
  if (!offsets_stream.read((char*)offsets.data(), offsets_count * sizeof(int))) {
    std::cerr << "missing data/offsets.bin\n";
    return 1;
  }

  float* d_table;
  int* d_ids;
  float* d_weights;
  int* d_offsets;
  float* d_pooled;
  cudaMalloc(&d_table, table_count * sizeof(float));
  cudaMalloc(&d_ids, TOKENS * sizeof(int));
  cudaMalloc(&d_weights, TOKENS * sizeof(float));
  cudaMalloc(&d_offsets, offsets_count * sizeof(int));
  cudaMalloc(&d_pooled, pooled_count * sizeof(float));

  cudaMemcpy(d_table, table.data(), table_count * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemcpy(d_ids, ids.data(), TOKENS * sizeof(int), cudaMemcpyHostToDevice);
  cudaMemcpy(d_weights, weights.data(), TOKENS * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemcpy(d_offsets, offsets.data(), offsets_count * sizeof(int), cudaMemcpyHostToDevice);

  solve(d_table, d_ids, d_weights, d_offsets, d_pooled);
  cudaError_t error = cudaDeviceSynchronize();
  if (error != cudaSuccess) {
    std::cerr << "CUDA: " << cudaGetErrorString(error) << '\n';
    return 1;
  }
  cudaMemcpy(pooled.data(), d_pooled, pooled_count * sizeof(float), cudaMemcpyDeviceToHost);

  std::ofstream("data/pooled.bin", std::ios::binary).write((char*)pooled.data(), pooled_count * sizeof(float));
  cudaFree(d_table);
  cudaFree(d_ids);
  cudaFree(d_weights);
  cudaFree(d_offsets);
  cudaFree(d_pooled);
  return 0;
}
