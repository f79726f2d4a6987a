#include <cuda_runtime.h>
#include <fstream>
#include <iostream>
#include <vector>

constexpr int BATCH = 3;
constexpr int CHANNELS = 20;
constexpr int PIXELS = 400;

// First kernel: one warp finds the scale of one plane. Second kernel: plain elementwise pass.
__global__ void plane_scales(const float* __restrict__ x, const float* __restrict__ gamma, float* scale) {
  int plane = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32;
  int lane = threadIdx.x % 32;
  if (plane >= BATCH * CHANNELS) return;
  const float* in = x + (size_t)plane * PIXELS;
  float acc = 0.0f;
  for (int p = lane; p < PIXELS; p += 32) acc = fmaf(in[p], in[p], acc);
  for (int s = 16; s > 0; s >>= 1) acc += __shfl_down_sync(0xffffffffu, acc, s);
  if (lane == 0) scale[plane] = gamma[plane % CHANNELS] * rsqrtf(acc / PIXELS + 1e-6f);
}

__global__ void threshold_linear(const float* __restrict__ x, const float* __restrict__ scale,
                                 const float* __restrict__ beta, const float* __restrict__ tau, float* y) {
  const int n = BATCH * CHANNELS * PIXELS;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    int plane = i / PIXELS, c = plane % CHANNELS;
    y[i] = fmaxf(fmaf(scale[plane], x[i], beta[c]), tau[c]);
  }
}

int main() {
  const size_t x_count = (size_t)BATCH * CHANNELS * PIXELS;
  std::vector<float> h_x(x_count);
  std::vector<float> h_gamma(CHANNELS);
  std::vector<float> h_beta(CHANNELS);
  std::vector<float> h_tau(CHANNELS);
  std::vector<float> h_y(x_count);
  std::ifstream in_x("data/x.bin", std::ios::binary);
  in_x.read(reinterpret_cast<char*>(h_x.data()), x_count * sizeof(float));
  if (!in_x) {
    std::cerr << "failed to read data/x.bin" << std::endl;
    return 1;
  }
  std::ifstream in_gamma("data/gamma.bin", std::ios::binary);
  in_gamma.read(reinterpret_cast<char*>(h_gamma.data()), CHANNELS * sizeof(float));
  if (!in_gamma) {
    std::cerr << "failed to read data/gamma.bin" << std::endl;
    return 1;
  }
  std::ifstream in_beta("data/beta.bin", std::ios::binary);
  in_beta.read(reinterpret_cast<char*>(h_beta.data()), CHANNELS * sizeof(float));
  if (!in_beta) {
    std::cerr << "failed to read data/beta.bin" << std::endl;
    return 1;
  }
  std::ifstream in_tau("data/tau.bin", std::ios::binary);
  in_tau.read(reinterpret_cast<char*>(h_tau.data()), CHANNELS * sizeof(float));
  if (!in_tau) {
    std::cerr << "missing or short file data/tau.bin" << std::endl;
    return 1;
  }

  float *d_x, *d_gamma, *d_beta, *d_tau, *d_y, *d_scale;
  cudaMalloc(&d_x, x_count * sizeof(float));
  cudaMalloc(&d_gamma, CHANNELS * sizeof(float));
  cudaMalloc(&d_beta, CHANNELS * sizeof(float));
  cudaMalloc(&d_tau, CHANNELS * sizeof(float));
  cudaMalloc(&d_y, x_count * sizeof(float));
  cudaMalloc(&d_scale, BATCH * CHANNELS * sizeof(float));
  cudaMemcpy(d_x, h_x.data(), x_count * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemcpy(d_gamma, h_gamma.data(), CHANNELS * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemcpy(d_beta, h_beta.data(), CHANNELS * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemcpy(d_tau, h_tau.data(), CHANNELS * sizeof(float), cudaMemcpyHostToDevice);

  plane_scales<<<(BATCH * CHANNELS + 8 - 1) / 8, 256>>>(d_x, d_gamma, d_scale);
  int blocks = (BATCH * CHANNELS * PIXELS + 256 - 1) / 256;
  threshold_linear<<<blocks < 4096 ? blocks : 4096, 256>>>(d_x, d_scale, d_beta, d_tau, d_y);
  cudaError_t status = cudaGetLastError();
  if (status != cudaSuccess) {
    std::cerr << "kernel failed: " << cudaGetErrorString(status) << "\n";
    return 1;
  }

  cudaMemcpy(h_y.data(), d_y, x_count * sizeof(float), cudaMemcpyDeviceToHost);
  std::ofstream out_y("data/y.bin", std::ios::binary);
  out_y.write(reinterpret_cast<char*>(h_y.data()), x_count * sizeof(float));

  cudaFree(d_x);
  cudaFree(d_gamma);
  cudaFree(d_beta);
  cudaFree(d_tau);
  cudaFree(d_y);
  cudaFree(d_scale);
  return 0;
}
