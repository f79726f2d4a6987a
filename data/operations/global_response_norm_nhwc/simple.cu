#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>
#include <cuda_runtime.h>

void read_bin(const std::string& filename, void* values, size_t size) {
  std::ifstream stream(filename, std::ios::binary);
  stream.read(reinterpret_cast<char*>(values), size);
  if (!stream) {
    std::cerr << "failed to read " << filename << std::endl;
    exit(1);
  }
}

void write_bin(const std::string& filename, const void* values, size_t size) {
  std::ofstream file(filename, std::ios::binary);
  file.write(reinterpret_cast<const char*>(values), size);
}
//@given

const int BATCH = 2;
const int PIXELS = 196;
const int CHANNELS = 64;

static inline int div_up(int a, int b) { return (a + b - 1) / b; }

__global__ void channel_norms(const float* x, float* norms) {
  int c = blockIdx.x * blockDim.x + threadIdx.x;
  int b = blockIdx.y;
  if (c >= CHANNELS) return;
  float sum = 0.0f;
  for (int p = 0; p < PIXELS; p++) {
    float v = x[((size_t)b * PIXELS + p) * CHANNELS + c];
    sum += v * v;
  }
  norms[b * CHANNELS + c] = sqrtf(sum);
}

__global__ void mean_norms(const float* norms, float* means) {
  int b = blockIdx.x * blockDim.x + threadIdx.x;
  if (b >= BATCH) return;
  float sum = 0.0f;
  for (int c = 0; c < CHANNELS; c++) sum += norms[b * CHANNELS + c];
  means[b] = sum / CHANNELS;
}

__global__ void apply(const float* x, const float* gamma, const float* beta, const float* norms, const float* means,
                      float* y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= BATCH * PIXELS * CHANNELS) return;
  int c = i % CHANNELS;
  int b = i / (PIXELS * CHANNELS);
  float n = norms[b * CHANNELS + c] / (means[b] + 1e-6f);
  y[i] = gamma[c] * x[i] * n + beta[c] + x[i];
}

int main() {
  const size_t x_elems = BATCH * PIXELS * CHANNELS;
  float* h_x = new float[x_elems];
  float* h_gamma = new float[CHANNELS];
  float* h_beta = new float[CHANNELS];
  float* h_y = new float[x_elems];
  read_bin("data/x.bin", h_x, x_elems * sizeof(float));
  read_bin("data/gamma.bin", h_gamma, CHANNELS * sizeof(float));
  read_bin("data/beta.bin", h_beta, CHANNELS * sizeof(float));

  float* d_x;
  float* d_gamma;
  float* d_beta;
  float* d_y;
  float* d_norms;
  float* d_means;
  cudaMalloc(&d_x, x_elems * sizeof(float));
  cudaMalloc(&d_gamma, CHANNELS * sizeof(float));
  cudaMalloc(&d_beta, CHANNELS * sizeof(float));
  cudaMalloc(&d_y, x_elems * sizeof(float));
  cudaMalloc(&d_norms, BATCH * CHANNELS * sizeof(float));
  cudaMalloc(&d_means, BATCH * sizeof(float));
  cudaMemcpy(d_x, h_x, x_elems * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemcpy(d_gamma, h_gamma, CHANNELS * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemcpy(d_beta, h_beta, CHANNELS * sizeof(float), cudaMemcpyHostToDevice);

  dim3 grid(div_up(CHANNELS, 64), BATCH);
  channel_norms<<<grid, 64>>>(d_x, d_norms);
  mean_norms<<<div_up(BATCH, 32), 32>>>(d_norms, d_means);
  apply<<<div_up(BATCH * PIXELS * CHANNELS, 256), 256>>>(d_x, d_gamma, d_beta, d_norms, d_means, d_y);

  cudaMemcpy(h_y, d_y, x_elems * sizeof(float), cudaMemcpyDeviceToHost);
  write_bin("data/y.bin", h_y, x_elems * sizeof(float));

  cudaFree(d_x);
  cudaFree(d_gamma);
  cudaFree(d_beta);
  cudaFree(d_y);
  cudaFree(d_norms);
  cudaFree(d_means);
  delete[] h_x;
  delete[] h_gamma;
  delete[] h_beta;
  delete[] h_y;
  return 0;
}
