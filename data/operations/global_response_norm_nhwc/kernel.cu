#include <fstream>
#include <iostream>
#include <vector>
#include <cuda_runtime.h>

constexpr int BATCH = 2;
constexpr int PIXELS = 196;
constexpr int CHANNELS = 64;

constexpr int kStrips = 16;

__global__ void add_squares(const float* __restrict__ x, float* __restrict__ squares) {
  int c = blockIdx.x * blockDim.x + threadIdx.x;
  if (c >= CHANNELS) return;
  const float* base = x + (size_t)blockIdx.z * PIXELS * CHANNELS + c;
  float sum = 0.0f;
  for (int p = blockIdx.y; p < PIXELS; p += kStrips) {
    float v = base[(size_t)p * CHANNELS];
    sum = fmaf(v, v, sum);
  }
  atomicAdd(&squares[blockIdx.z * CHANNELS + c], sum);
}

// Each block sums the channel norms of its sample once, then writes a share of the positions.
__global__ void respond(const float* __restrict__ x, const float* __restrict__ gamma,
    const float* __restrict__ beta,
            const float* __restrict__ squares, float* __restrict__ y) {
  __shared__ float part[128];
  const float* sq = squares + blockIdx.y * CHANNELS;
  float sum = 0.0f;
  for (int c = threadIdx.x; c < CHANNELS; c += 128) sum += sqrtf(sq[c]);
  part[threadIdx.x] = sum;
  __syncthreads();
  for (int s = 64; s > 0; s >>= 1) {
    if (threadIdx.x < s) part[threadIdx.x] += part[threadIdx.x + s];
    __syncthreads();
  }
  const float inv = 1.0f / (part[0] / CHANNELS + 1e-6f);
  const size_t base = (size_t)blockIdx.y * PIXELS * CHANNELS;
  for (int c = threadIdx.x; c < CHANNELS; c += 128) {
    const float scale = fmaf(gamma[c] * inv, sqrtf(sq[c]), 1.0f);
    for (int p = blockIdx.x; p < PIXELS; p += gridDim.x) {
      size_t i = base + (size_t)p * CHANNELS + c;
      y[i] = fmaf(scale, x[i], beta[c]);
    }
  }
}

int main() {
  const size_t num_x = (size_t)BATCH * PIXELS * CHANNELS;
  std::vector<float> h_x(num_x);
  std::vector<float> h_gamma(CHANNELS);
  std::vector<float> h_beta(CHANNELS);
  std::vector<float> h_y(num_x);
  std::ifstream in_x("data/x.bin", std::ios::binary);
  in_x.read(reinterpret_cast<char*>(h_x.data()), num_x * sizeof(float));
  if (!in_x) {
    std::cerr << "failed to read data/x.bin" << std::endl;
    return 1;
  }
  std::ifstream in_gamma("data/gamma.bin", std::ios::binary);
  in_gamma.read(reinterpret_cast<char*>(h_gamma.data()), CHANNELS * sizeof(float));
  if (!in_gamma) {
    std::cerr << "missing or short file data/gamma.bin" << std::endl;
    return 1;
  }
  std::ifstream in_beta("data/beta.bin", std::ios::binary);
  in_beta.read(reinterpret_cast<char*>(h_beta.data()), CHANNELS * sizeof(float));
  if (!in_beta) {
    std::cerr << "cannot read data/beta.bin" << std::endl;
    return 1;
  }

  float* d_x;
  float* d_gamma;
  float* d_beta;
  float* d_y;
  float* d_squares;
  cudaMalloc(&d_x, num_x * sizeof(float));
  cudaMalloc(&d_gamma, CHANNELS * sizeof(float));
  cudaMalloc(&d_beta, CHANNELS * sizeof(float));
  cudaMalloc(&d_y, num_x * sizeof(float));
  cudaMalloc(&d_squares, BATCH * CHANNELS * sizeof(float));
  cudaMemcpy(d_x, h_x.data(), num_x * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemcpy(d_gamma, h_gamma.data(), CHANNELS * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemcpy(d_beta, h_beta.data(), CHANNELS * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemset(d_squares, 0, BATCH * CHANNELS * sizeof(float));

  dim3 squares_grid((CHANNELS + 128 - 1) / 128, kStrips, BATCH);
  add_squares<<<squares_grid, 128>>>(d_x, d_squares);
  dim3 apply_grid(64, BATCH);
  respond<<<apply_grid, 128>>>(d_x, d_gamma, d_beta, d_squares, d_y);
  cudaError_t err = cudaDeviceSynchronize();
  if (err != cudaSuccess) {
    std::cerr << "CUDA error: " << cudaGetErrorString(err) << "\n";
    return 1;
  }

  cudaMemcpy(h_y.data(), d_y, num_x * sizeof(float), cudaMemcpyDeviceToHost);
  std::ofstream out_y("data/y.bin", std::ios::binary);
  out_y.write(reinterpret_cast<char*>(h_y.data()), num_x * sizeof(float));

  cudaFree(d_x);
  cudaFree(d_gamma);
  cudaFree(d_beta);
  cudaFree(d_y);
  cudaFree(d_squares);
  return 0;
}
