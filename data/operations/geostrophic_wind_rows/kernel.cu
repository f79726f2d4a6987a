#include <cuda_runtime.h>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>

void readFloats(const std::string& path, float* data, size_t num) {
  std::ifstream in(path, std::ios::binary);
  if (!in.read((char*)data, num * sizeof(float))) {
    std::cerr << "failed to read " << path << "\n";
    std::exit(1);
  }
}

void writeFloats(const std::string& path, const float* data, size_t num) {
  std::ofstream out(path, std::ios::binary);
  out.write(reinterpret_cast<const char*>(data), num * sizeof(float));
}
//@given

constexpr int LEVELS = 2;
constexpr int LATS = 40;
constexpr int LONS = 72;
constexpr int THREADS = 128;

// blockIdx.y is the latitude: its factors are the same for all threads and levels of the block.
__global__ void wind_by_latitude(const float* __restrict__ height, const float* __restrict__ coriolis,
                                 const float* __restrict__ spacing, float* __restrict__ u,
                                         float* __restrict__ v) {
  const int j = blockIdx.y;
  const int i = blockIdx.x * THREADS + threadIdx.x;
  if (i >= LONS) return;
  const int up = min(j + 1, LATS - 1), down = max(j - 1, 0);
  const int east = (i + 1) % LONS, west = (i + LONS - 1) % LONS;
  const float g = 9.81f / coriolis[j];
  const float to_u = -g / (111000.0f * (up - down));
  const float to_v = 0.5f * g / spacing[j];
  for (int level = blockIdx.z; level < LEVELS; level += gridDim.z) {
    const float* h = height + level * LATS * LONS;
    int k = (level * LATS + j) * LONS + i;
    u[k] = to_u * (h[up * LONS + i] - h[down * LONS + i]);
    v[k] = to_v * (h[j * LONS + east] - h[j * LONS + west]);
  }
}

int main() {
  float* h_height = new float[LEVELS * LATS * LONS];
  float* h_coriolis = new float[LATS];
  float* h_spacing = new float[LATS];
  float* h_u = new float[LEVELS * LATS * LONS];
  float* h_v = new float[LEVELS * LATS * LONS];
  readFloats("data/height.bin", h_height, LEVELS * LATS * LONS);
  readFloats("data/coriolis.bin", h_coriolis, LATS);
  readFloats("data/spacing.bin", h_spacing, LATS);

  float* d_height = nullptr;
  float* d_coriolis = nullptr;
  float* d_spacing = nullptr;
  float* d_u = nullptr;
  float* d_v = nullptr;
  cudaMalloc(&d_height, LEVELS * LATS * LONS * sizeof(float));
  cudaMemcpy(d_height, h_height, LEVELS * LATS * LONS * sizeof(float), cudaMemcpyHostToDevice);
  cudaMalloc(&d_coriolis, LATS * sizeof(float));
  cudaMemcpy(d_coriolis, h_coriolis, LATS * sizeof(float), cudaMemcpyHostToDevice);
  cudaMalloc(&d_spacing, LATS * sizeof(float));
  cudaMemcpy(d_spacing, h_spacing, LATS * sizeof(float), cudaMemcpyHostToDevice);
  cudaMalloc(&d_u, LEVELS * LATS * LONS * sizeof(float));
  cudaMalloc(&d_v, LEVELS * LATS * LONS * sizeof(float));

  dim3 grid((LONS + THREADS - 1) / THREADS, LATS, LEVELS < 4 ? LEVELS : 4);
  wind_by_latitude<<<grid, THREADS>>>(d_height, d_coriolis, d_spacing, d_u, d_v);
  cudaMemcpy(h_u, d_u, LEVELS * LATS * LONS * sizeof(float), cudaMemcpyDeviceToHost);
  cudaMemcpy(h_v, d_v, LEVELS * LATS * LONS * sizeof(float), cudaMemcpyDeviceToHost);

  writeFloats("data/u.bin", h_u, LEVELS * LATS * LONS);
  writeFloats("data/v.bin", h_v, LEVELS * LATS * LONS);

  cudaFree(d_height);
  cudaFree(d_coriolis);
  cudaFree(d_spacing);
  cudaFree(d_u);
  cudaFree(d_v);
  delete[] h_height;
  delete[] h_coriolis;
  delete[] h_spacing;
  delete[] h_u;
  delete[] h_v;
}
