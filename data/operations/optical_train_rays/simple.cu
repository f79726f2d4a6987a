#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>
#include <cuda_runtime.h>

void load(const std::string& path, void* data, size_t num_bytes) {
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    std::cerr << "no such file: " << path << std::endl;
    exit(1);
  }
  file.read(reinterpret_cast<char*>(data), num_bytes);
}

void save(const std::string& path, const void* data, size_t num_bytes) {
  std::ofstream out(path, std::ios::binary);
  out.write(reinterpret_cast<const char*>(data), num_bytes);
}
//@given

#define RAYS 3000
#define LENSES 10

static int blocks_for(int items, int block) {
  return (items + block - 1) / block;
}

__global__ void trace(const float* ray, const float* lens, float* leaving, float* widest) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= RAYS) return;
  float y = ray[2 * i], s = ray[2 * i + 1];
  float top = 0.0f;
  for (int j = 0; j < LENSES; ++j) {
    y += lens[2 * j] * s;
    s -= lens[2 * j + 1] * y;
    top = fmaxf(top, fabsf(y));
  }
  leaving[2 * i] = y;
  leaving[2 * i + 1] = s;
  widest[i] = top;
}

int main() {
  float* ray = new float[RAYS * 2];
  float* lens = new float[LENSES * 2];
  float* leaving = new float[RAYS * 2];
  float* widest = new float[RAYS];
  load("data/ray.bin", ray, RAYS * 2 * sizeof(float));
  load("data/lens.bin", lens, LENSES * 2 * sizeof(float));

  float *d_ray, *d_lens, *d_leaving, *d_widest;
  cudaMalloc(&d_ray, RAYS * 2 * sizeof(float));
  cudaMemcpy(d_ray, ray, RAYS * 2 * sizeof(float), cudaMemcpyHostToDevice);
  cudaMalloc(&d_lens, LENSES * 2 * sizeof(float));
  cudaMemcpy(d_lens, lens, LENSES * 2 * sizeof(float), cudaMemcpyHostToDevice);
  cudaMalloc(&d_leaving, RAYS * 2 * sizeof(float));
  cudaMalloc(&d_widest, RAYS * sizeof(float));

  trace<<<blocks_for(RAYS, 256), 256>>>(d_ray, d_lens, d_leaving, d_widest);
  cudaMemcpy(leaving, d_leaving, RAYS * 2 * sizeof(float), cudaMemcpyDeviceToHost);
  cudaMemcpy(widest, d_widest, RAYS * sizeof(float), cudaMemcpyDeviceToHost);

  save("data/leaving.bin", leaving, RAYS * 2 * sizeof(float));
  save("data/widest.bin", widest, RAYS * sizeof(float));

  cudaFree(d_ray);
  cudaFree(d_lens);
  cudaFree(d_leaving);
  cudaFree(d_widest);
  delete[] ray;
  delete[] lens;
  delete[] leaving;
  delete[] widest;
}
