#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>
#include <cuda_runtime.h>

template <typename T>
void read_file(const std::string& path, T* data, size_t count) {
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    std::cerr << "cannot open " << path << std::endl;
    exit(1);
  }
  file.read(reinterpret_cast<char*>(data), count * sizeof(T));
}

template <typename T>
void write_file(const std::string& path, const T* data, size_t count) {
  std::ofstream file(path, std::ios::binary);
  file.write(reinterpret_cast<const char*>(data), count * sizeof(T));
}
//@given

constexpr int kN = 400;
const int kBlock = 128;

// Squared distances are compared; the square root is taken for touching pairs only.
__global__ void contact_tiles(const float4* __restrict__ spheres, int* __restrict__ contacts,
                              float* __restrict__ deepest) {
  __shared__ float4 tile[kBlock];
  int i = blockIdx.x * kBlock + threadIdx.x;
  float4 own = spheres[min(i, kN - 1)];
  int count = 0;
  float deep = 0.0f;
  for (int start = 0; start < kN; start += kBlock) {
    int j = start + threadIdx.x;
    if (j < kN) tile[threadIdx.x] = spheres[j];
    __syncthreads();
    int limit = min(kBlock, kN - start);
    for (int k = 0; k < limit; ++k) {
      float4 s = tile[k];
      float dx = s.x - own.x, dy = s.y - own.y, dz = s.z - own.z;
      float d2 = dx * dx + dy * dy + dz * dz;
      float reach = own.w + s.w;
      if (d2 < reach * reach && start + k != i) {
        ++count;
        deep = fmaxf(deep, reach - sqrtf(d2));
      }
    }
    __syncthreads();
  }
  if (i < kN) {
    contacts[i] = count;
    deepest[i] = deep;
  }
}

int main() {
  float* h_spheres = new float[kN * 4];
  int* h_contacts = new int[kN];
  float* h_deepest = new float[kN];
  read_file("data/spheres.bin", h_spheres, kN * 4);

  float* d_spheres;
  int* d_contacts;
  float* d_deepest;
  cudaMalloc(&d_spheres, kN * 4 * sizeof(float));
  cudaMalloc(&d_contacts, kN * sizeof(int));
  cudaMalloc(&d_deepest, kN * sizeof(float));
  cudaMemcpy(d_spheres, h_spheres, kN * 4 * sizeof(float), cudaMemcpyHostToDevice);

  contact_tiles<<<(kN + kBlock - 1) / kBlock, kBlock>>>((const float4*)d_spheres, d_contacts, d_deepest);
  cudaDeviceSynchronize();

  cudaMemcpy(h_contacts, d_contacts, kN * sizeof(int), cudaMemcpyDeviceToHost);
  cudaMemcpy(h_deepest, d_deepest, kN * sizeof(float), cudaMemcpyDeviceToHost);
  write_file("data/contacts.bin", h_contacts, kN);
  write_file("data/deepest.bin", h_deepest, kN);

  cudaFree(d_spheres);
  cudaFree(d_contacts);
  cudaFree(d_deepest);
  delete[] h_spheres;
  delete[] h_contacts;
  delete[] h_deepest;
  return 0;
}
