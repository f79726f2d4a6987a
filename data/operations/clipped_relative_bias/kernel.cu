#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>
#include <cuda_runtime.h>

void load_data(const std::string& name, float* values, size_t count) {
  std::ifstream in(name, std::ios::binary);
  in.read(reinterpret_cast<char*>(values), count * sizeof(float));
  if (!in) {
    std::cerr << "could not open " << name << "\n";
    exit(1);
  }
}

void save_data(const std::string& name, const float* values, size_t count) {
  std::ofstream stream(name, std::ios::binary);
  stream.write(reinterpret_cast<const char*>(values), count * sizeof(float));
}
//@given

static const int HEADS = 4;
static const int QUERIES = 90;
static const int KEYS = 100;

const int kReach = 64;

// Blocks walk over the rows of one head with its bias row in shared memory.
__global__ void add_bias_rows(const float* __restrict__ scores, const float* __restrict__ bias,
                              float* __restrict__ biased) {
  __shared__ float b[kReach + 1];
  const int h = blockIdx.y;
  if (threadIdx.x <= kReach) b[threadIdx.x] = bias[h * (kReach + 1) + threadIdx.x];
  __syncthreads();
  for (int i = blockIdx.x; i < QUERIES; i += gridDim.x) {
    const size_t row = ((size_t)h * QUERIES + i) * KEYS;
    const int p = i + KEYS - QUERIES;
    for (int j = threadIdx.x; j < KEYS; j += blockDim.x) {
      float v = -10000.0f;
      if (j <= p) v = fmaf(0.125f, scores[row + j], b[p - j < kReach ? p - j : kReach]);
      biased[row + j] = v;
    }
  }
}

int main() {
  const size_t n_scores = HEADS * QUERIES * KEYS;
  const size_t n_bias = HEADS * 65;
  float* h_scores = new float[n_scores];
  float* h_bias = new float[n_bias];
  float* h_biased = new float[n_scores];
  load_data("data/scores.bin", h_scores, n_scores);
  load_data("data/bias.bin", h_bias, n_bias);

  float* d_scores;
  float* d_bias;
  float* d_biased;
  cudaMalloc(&d_scores, n_scores * sizeof(float));
  cudaMalloc(&d_bias, n_bias * sizeof(float));
  cudaMalloc(&d_biased, n_scores * sizeof(float));
  cudaMemcpy(d_scores, h_scores, n_scores * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemcpy(d_bias, h_bias, n_bias * sizeof(float), cudaMemcpyHostToDevice);

  dim3 grid(QUERIES < 128 ? QUERIES : 128, HEADS);
  add_bias_rows<<<grid, 256>>>(d_scores, d_bias, d_biased);

  cudaMemcpy(h_biased, d_biased, n_scores * sizeof(float), cudaMemcpyDeviceToHost);
  save_data("data/biased.bin", h_biased, n_scores);

  cudaFree(d_scores);
  cudaFree(d_bias);
  cudaFree(d_biased);
  delete[] h_scores;
  delete[] h_bias;
  delete[] h_biased;
  return 0;
}
