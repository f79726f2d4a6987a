#include <fstream>
#include <iostream>
#include <vector>
#include <cstdint>
#include <cuda_runtime.h>

constexpr int kBatch = 2;
constexpr int kChannels = 9;
constexpr int kPlane = 800;

// A plane has a multiple of four elements: float4 in, uchar4 and float4 out.
__global__ void quantise4(const float4* __restrict__ x, const float* __restrict__ clip, uchar4* __restrict__ code,
                          float4* __restrict__ y) {
  const float a = clip[blockIdx.x % kChannels];
  const float up = 15.0f / a, down = a / 15.0f;
  const int quads = kPlane / 4;
  const size_t base = (size_t)blockIdx.x * quads;
  for (int i = threadIdx.x; i < quads; i += blockDim.x) {
    const float4 v = x[base + i];
    const float q0 = rintf(fminf(fmaxf(v.x, 0.0f), a) * up);
    const float q1 = rintf(fminf(fmaxf(v.y, 0.0f), a) * up);
    const float q2 = rintf(fminf(fmaxf(v.z, 0.0f), a) * up);
    const float q3 = rintf(fminf(fmaxf(v.w, 0.0f), a) * up);
    code[base + i] = make_uchar4(q0, q1, q2, q3);
    y[base + i] = make_float4(q0 * down, q1 * down, q2 * down, q3 * down);
  }
}

int main() {
  const size_t elements = kBatch * kChannels * kPlane;
  std::vector<float> h_x(elements);
  std::vector<float> h_clip(kChannels);
  std::vector<uint8_t> h_code(elements);
  std::vector<float> h_y(elements);
  std::ifstream in_x("data/x.bin", std::ios::binary);
  in_x.read(reinterpret_cast<char*>(h_x.data()), elements * sizeof(float));
  if (!in_x) {
    std::cerr << "missing or incomplete file data/x.bin" << std::endl;
    return 1;
  }
  std::ifstream fin_clip("data/clip.bin", std::ios::binary);
  fin_clip.read(reinterpret_cast<char*>(h_clip.data()), kChannels * sizeof(float));
  if (!fin_clip) {
    std::cerr << "failed to read data/clip.bin" << std::endl;
    return 1;
  }

  float* d_x;
  float* d_clip;
  float* d_y;
  uint8_t* d_code;
  cudaMalloc(&d_x, elements * sizeof(float));
  cudaMalloc(&d_clip, kChannels * sizeof(float));
  cudaMalloc(&d_code, elements * sizeof(uint8_t));
  cudaMalloc(&d_y, elements * sizeof(float));
  cudaMemcpy(d_x, h_x.data(), elements * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemcpy(d_clip, h_clip.data(), kChannels * sizeof(float), cudaMemcpyHostToDevice);

  quantise4<<<kBatch * kChannels, 128>>>((const float4*)d_x, d_clip, (uchar4*)d_code, (float4*)d_y);
  cudaError_t error = cudaDeviceSynchronize();
  if (error != cudaSuccess) {
    std::cerr << "GPU: " << cudaGetErrorString(error) << std::endl;
    return 1;
  }
  cudaMemcpy(h_code.data(), d_code, elements * sizeof(uint8_t), cudaMemcpyDeviceToHost);
  cudaMemcpy(h_y.data(), d_y, elements * sizeof(float), cudaMemcpyDeviceToHost);
  std::ofstream out_code("data/code.bin", std::ios::binary);
  out_code.write(reinterpret_cast<char*>(h_code.data()), elements * sizeof(uint8_t));
  std::ofstream fout_y("data/y.bin", std::ios::binary);
  fout_y.write(reinterpret_cast<char*>(h_y.data()), elements * sizeof(float));

  cudaFree(d_y);
  cudaFree(d_code);
  cudaFree(d_clip);
  cudaFree(d_x);
  return 0;
}
