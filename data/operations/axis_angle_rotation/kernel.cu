#include <fstream>
#include <iostream>
#include <vector>
#include <cuda_runtime.h>

static const int N = 4000;

// One thread an output component: neighbouring threads read and write neighbouring words.
__global__ void rotate_components(const float* __restrict__ vectors, const float* __restrict__ axes,
                                  const float* __restrict__ angles, float* __restrict__ rotated) {
  int e = blockIdx.x * blockDim.x + threadIdx.x;
  if (e >= 3 * N) return;
  int i = e / 3;
  int k = e - 3 * i;
  int k1 = k == 2 ? 0 : k + 1;
  int k2 = 3 - k - k1;
  const float* v = vectors + 3 * i;
  const float* a = axes + 3 * i;
  float len2 = a[0] * a[0] + a[1] * a[1] + a[2] * a[2];
  float result = v[k];
  if (len2 > 0.0f) {
    float inv = 1.0f / sqrtf(len2);
    float s, c;
    sincosf(angles[i], &s, &c);
    float along = (a[0] * v[0] + a[1] * v[1] + a[2] * v[2]) * inv * inv;
    float turn = (a[k1] * v[k2] - a[k2] * v[k1]) * inv;
    result = v[k] * c + turn * s + a[k] * along * (1.0f - c);
  }
  rotated[e] = result;
}

void solve(const float* d_vectors, const float* d_axes, const float* d_angles, float* d_rotated) {
  rotate_components<<<(3 * N + 255) / 256, 256>>>(d_vectors, d_axes, d_angles, d_rotated);
}

int main() {
  std::vector<float> vectors(N * 3);
  std::vector<float> axes(N * 3);
  std::vector<float> angles(N);
  std::vector<float> rotated(N * 3);
  std::ifstream in_vectors("data/vectors.bin", std::ios::binary);
  if (!in_vectors.read(reinterpret_cast<char*>(vectors.data()), N * 3 * sizeof(float))) {
    std::cerr << "cannot read data/vectors.bin" << std::endl;
    return 1;
  }
  std::ifstream in_axes("data/axes.bin", std::ios::binary);
  if (!in_axes.read(reinterpret_cast<char*>(axes.data()), N * 3 * sizeof(float))) {
    std::cerr << "cannot read data/axes.bin" << std::endl;
    return 1;
  }
  std::ifstream in_angles("data/angles.bin", std::ios::binary);
  if (!in_angles.read(reinterpret_cast<char*>(angles.data()), N * sizeof(float))) {
    std::cerr << "cannot read data/angles.bin" << std::endl;
    return 1;
  }

  float *d_vectors, *d_axes, *d_angles, *d_rotated;
  cudaMalloc(&d_vectors, N * 3 * sizeof(float));
  cudaMalloc(&d_axes, N * 3 * sizeof(float));
  cudaMalloc(&d_angles, N * sizeof(float));
  cudaMalloc(&d_rotated, N * 3 * sizeof(float));
  cudaMemcpy(d_vectors, vectors.data(), N * 3 * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemcpy(d_axes, axes.data(), N * 3 * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemcpy(d_angles, angles.data(), N * sizeof(float), cudaMemcpyHostToDevice);

  solve(d_vectors, d_axes, d_angles, d_rotated);

  cudaMemcpy(rotated.data(), d_rotated, N * 3 * sizeof(float), cudaMemcpyDeviceToHost);
  std::ofstream out("data/rotated.bin", std::ios::binary);
  out.write(reinterpret_cast<const char*>(rotated.data()), N * 3 * sizeof(float));

  cudaFree(d_vectors);
  cudaFree(d_axes);
  cudaFree(d_angles);
  cudaFree(d_rotated);
  return 0;
}
