#include <fstream>
#include <iostream>
#include <cuda_runtime.h>

#define N 5000

__global__ void lens_area(const float* a, const float* b, float* area) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= N) return;
  float dx = a[3 * i] - b[3 * i];
  float dy = a[3 * i + 1] - b[3 * i + 1];
  float d = sqrtf(dx * dx + dy * dy);
  float r = fminf(a[3 * i + 2], b[3 * i + 2]);
  float R = fmaxf(a[3 * i + 2], b[3 * i + 2]);
  float result;
  if (d >= R + r) {
    result = 0.0f;
  } else if (d <= R - r) {
    result = 3.14159265f * r * r;
  } else {
    float c1 = (d * d + r * r - R * R) / (2.0f * d * r);
    float c2 = (d * d + R * R - r * r) / (2.0f * d * R);
    c1 = fminf(fmaxf(c1, -1.0f), 1.0f);
    c2 = fminf(fmaxf(c2, -1.0f), 1.0f);
    float k = (-d + r + R) * (d + r - R) * (d - r + R) * (d + r + R);
    result = r * r * acosf(c1) + R * R * acosf(c2) - 0.5f * sqrtf(fmaxf(k, 0.0f));
  }
  area[i] = result;
}

int main() {
  float *a, *b, *area;
  cudaMallocManaged(&a, N * 3 * sizeof(float));
  cudaMallocManaged(&b, N * 3 * sizeof(float));
  cudaMallocManaged(&area, N * sizeof(float));

  std::ifstream in_a("data/a.bin", std::ios::binary);
  if (!in_a.read((char*)a, N * 3 * sizeof(float))) {
    std::cerr << "cannot read data/a.bin\n";
    return 1;
  }
  std::ifstream in_b("data/b.bin", std::ios::binary);
  if (!in_b.read((char*)b, N * 3 * sizeof(float))) {
    std::cerr << "cannot read data/b.bin\n";
    return 1;
  }

  lens_area<<<(N + 256 - 1) / 256, 256>>>(a, b, area);

  cudaError_t status = cudaDeviceSynchronize();
  if (status != cudaSuccess) {
    std::cerr << cudaGetErrorString(status) << "\n";
    return 1;
  }

  std::ofstream out("data/area.bin", std::ios::binary);
  out.write((const char*)area, N * sizeof(float));

  cudaFree(a);
  cudaFree(b);
  cudaFree(area);
  return 0;
}
