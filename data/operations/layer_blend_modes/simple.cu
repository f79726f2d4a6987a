#include <fstream>
#include <vector>
#include <cuda_runtime.h>

#define LAYERS 12
#define PIXELS 1500

__device__ float blend(int mode, float b, float t) {
  switch (mode) {
    case 0: return b * t;
    case 1: return 1.0f - (1.0f - b) * (1.0f - t);
    case 2: return b < 0.5f ? 2.0f * b * t : 1.0f - 2.0f * (1.0f - b) * (1.0f - t);
    case 3: return fminf(b, t);
    case 4: return fmaxf(b, t);
    case 5: return fabsf(b - t);
    default: return (1.0f - 2.0f * t) * b * b + 2.0f * t * b;
  }
}

__global__ void blend_layers(const float* base, const float* top, const int* mode, const float* opacity, float* out) {
  int p = blockIdx.x * blockDim.x + threadIdx.x;
  int layer = blockIdx.y;
  if (p >= PIXELS) return;
  size_t i = (size_t)layer * PIXELS + p;
  float b = base[i];
  out[i] = b + opacity[layer] * (blend(mode[layer], b, top[i]) - b);
}

int main() {
  size_t elements = (size_t)LAYERS * PIXELS;
  std::vector<float> h_base(elements), h_top(elements), h_opacity(LAYERS), h_blended(elements);
  std::vector<int> h_mode(LAYERS);
  std::ifstream in0("data/base.bin", std::ios::binary);
  if (!in0.read((char*)h_base.data(), elements * sizeof(float))) return 1;
  std::ifstream in1("data/top.bin", std::ios::binary);
  if (!in1.read((char*)h_top.data(), elements * sizeof(float))) return 1;
  std::ifstream in2("data/mode.bin", std::ios::binary);
  if (!in2.read((char*)h_mode.data(), LAYERS * sizeof(int))) return 1;
  std::ifstream in3("data/opacity.bin", std::ios::binary);
  if (!in3.read((char*)h_opacity.data(), LAYERS * sizeof(float))) return 1;
  float *d_base, *d_top, *d_opacity, *d_blended;
  int *d_mode;
  cudaMalloc(&d_base, elements * sizeof(float));
  cudaMalloc(&d_top, elements * sizeof(float));
  cudaMalloc(&d_mode, LAYERS * sizeof(int));
  cudaMalloc(&d_opacity, LAYERS * sizeof(float));
  cudaMalloc(&d_blended, elements * sizeof(float));
  cudaMemcpy(d_base, h_base.data(), elements * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemcpy(d_top, h_top.data(), elements * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemcpy(d_mode, h_mode.data(), LAYERS * sizeof(int), cudaMemcpyHostToDevice);
  cudaMemcpy(d_opacity, h_opacity.data(), LAYERS * sizeof(float), cudaMemcpyHostToDevice);
  dim3 grid((PIXELS + 255) / 256, LAYERS);
  blend_layers<<<grid, 256>>>(d_base, d_top, d_mode, d_opacity, d_blended);
  cudaMemcpy(h_blended.data(), d_blended, elements * sizeof(float), cudaMemcpyDeviceToHost);
  std::ofstream("data/blended.bin", std::ios::binary).write((char*)h_blended.data(), elements * sizeof(float));
  return 0;
}
