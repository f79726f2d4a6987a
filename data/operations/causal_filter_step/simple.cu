#include <fstream>
#include <iostream>
#include <vector>
#include <cuda_runtime.h>

#define BATCH 20
#define CHANNELS 300

__global__ void filter_step(const float* state, const float* x, const float* taps, const float* bias, float* y,
                            float* next_state) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= BATCH * CHANNELS) return;
  int c = i % CHANNELS;
  float z = bias[c];
  for (int k = 0; k < 4; k++) {
    float v = k < 3 ? state[4 * i + k + 1] : x[i];
    next_state[4 * i + k] = v;
    z += taps[4 * c + k] * v;
  }
  y[i] = z / (1.0f + expf(-z));
}

int main() {
  const int state_count = BATCH * CHANNELS * 4;
  const int x_count = BATCH * CHANNELS;
  const int taps_count = CHANNELS * 4;
  std::vector<float> h_state(state_count);
  std::vector<float> h_x(x_count);
  std::vector<float> h_taps(taps_count);
  std::vector<float> h_bias(CHANNELS);
  std::vector<float> h_y(x_count);
  std::vector<float> h_next_state(state_count);
  std::ifstream in_state("data/state.bin", std::ios::binary);
  in_state.read((char*)h_state.data(), state_count * sizeof(float));
  if (!in_state) {
    std::cerr << "missing or short file data/state.bin" << std::endl;
    return 1;
  }
  std::ifstream in_x("data/x.bin", std::ios::binary);
  in_x.read((char*)h_x.data(), x_count * sizeof(float));
  if (!in_x) {
    std::cerr << "cannot read data/x.bin" << std::endl;
    return 1;
  }
  std::ifstream in_taps("data/taps.bin", std::ios::binary);
  in_taps.read((char*)h_taps.data(), taps_count * sizeof(float));
  if (!in_taps) {
    std::cerr << "failed to read data/taps.bin" << std::endl;
    return 1;
  }
  std::ifstream in_bias("data/bias.bin", std::ios::binary);
  in_bias.read((char*)h_bias.data(), CHANNELS * sizeof(float));
  if (!in_bias) {
    std::cerr << "cannot read data/bias.bin" << std::endl;
    return 1;
  }

  float* d_state;
  float* d_x;
  float* d_taps;
  float* d_bias;
  float* d_y;
  float* d_next_state;
  cudaMalloc(&d_state, state_count * sizeof(float));
  cudaMalloc(&d_x, x_count * sizeof(float));
  cudaMalloc(&d_taps, taps_count * sizeof(float));
  cudaMalloc(&d_bias, CHANNELS * sizeof(float));
  cudaMalloc(&d_y, x_count * sizeof(float));
  cudaMalloc(&d_next_state, state_count * sizeof(float));
  cudaMemcpy(d_state, h_state.data(), state_count * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemcpy(d_x, h_x.data(), x_count * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemcpy(d_taps, h_taps.data(), taps_count * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemcpy(d_bias, h_bias.data(), CHANNELS * sizeof(float), cudaMemcpyHostToDevice);

  filter_step<<<(BATCH * CHANNELS + 256 - 1) / 256, 256>>>(d_state, d_x, d_taps, d_bias, d_y, d_next_state);
  cudaError_t err = cudaGetLastError();
  if (err != cudaSuccess) {
    std::cerr << "kernel failed: " << cudaGetErrorString(err) << "\n";
    return 1;
  }

  cudaMemcpy(h_y.data(), d_y, x_count * sizeof(float), cudaMemcpyDeviceToHost);
  cudaMemcpy(h_next_state.data(), d_next_state, state_count * sizeof(float), cudaMemcpyDeviceToHost);
  std::ofstream out_y("data/y.bin", std::ios::binary);
  out_y.write((char*)h_y.data(), x_count * sizeof(float));
  std::ofstream out_next_state("data/next_state.bin", std::ios::binary);
  out_next_state.write((char*)h_next_state.data(), state_count * sizeof(float));

  cudaFree(d_state);
  cudaFree(d_x);
  cudaFree(d_taps);
  cudaFree(d_bias);
  cudaFree(d_y);
  cudaFree(d_next_state);
  return 0;
}
