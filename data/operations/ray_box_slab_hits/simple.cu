#include <cmath>
#include <fstream>
#include <iostream>
#include <cuda_runtime.h>

const int N = 2000;
const int M = 16;

__global__ void slab_test(const float* rays, const float* boxes, int* hits, float* entry) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= N) return;
  const float* o = rays + 6 * i;
  const float* d = o + 3;
  int count = 0;
  float first = INFINITY;
  for (int b = 0; b < M; ++b) {
    const float* lo = boxes + 6 * b;
    const float* hi = lo + 3;
    float near = -INFINITY, far = INFINITY;
    for (int k = 0; k < 3; ++k) {
      float t0 = (lo[k] - o[k]) / d[k];
      float t1 = (hi[k] - o[k]) / d[k];
      near = fmaxf(near, fminf(t0, t1));
      far = fminf(far, fmaxf(t0, t1));
    }
    if (near <= far && far >= 0.0f) {
      ++count;
      first = fminf(first, fmaxf(near, 0.0f));
    }
  }
  hits[i] = count;
  entry[i] = count > 0 ? first : -1.0f;
}

int main() {
  float* rays;
  float* boxes;
  int* hits;
  float* entry;
  cudaMallocManaged(&rays, sizeof(float) * N * 6);
  cudaMallocManaged(&boxes, sizeof(float) * M * 6);
  cudaMallocManaged(&hits, sizeof(int) * N);
  cudaMallocManaged(&entry, sizeof(float) * N);

  std::ifstream in_rays("data/rays.bin", std::ios::binary);
  if (!in_rays.read((char*)rays, sizeof(float) * N * 6)) {
    std::cerr << "cannot read data/rays.bin\n";
    return 1;
  }
  std::ifstream in_boxes("data/boxes.bin", std::ios::binary);
  if (!in_boxes.read((char*)boxes, sizeof(float) * M * 6)) {
    std::cerr << "cannot read data/boxes.bin\n";
    return 1;
  }

  const int threads = 128;
  slab_test<<<(N + threads - 1) / threads, threads>>>(rays, boxes, hits, entry);

  cudaError_t err = cudaDeviceSynchronize();
  if (err != cudaSuccess) {
    std::cerr << cudaGetErrorString(err) << "\n";
    return 1;
  }

  std::ofstream out_hits("data/hits.bin", std::ios::binary);
  out_hits.write((const char*)hits, sizeof(int) * N);
  std::ofstream out_entry("data/entry.bin", std::ios::binary);
  out_entry.write((const char*)entry, sizeof(float) * N);

  cudaFree(rays);
  cudaFree(boxes);
  cudaFree(hits);
  cudaFree(entry);
  return 0;
}
