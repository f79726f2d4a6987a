#include <cmath>
#include <cstdio>
#include <vector>
#include <cuda_runtime.h>

constexpr int kN = 2000;
constexpr int kM = 8;

__device__ float rounded_box(const float* p, const float* shape) {
  float length2 = 0.0f;
  float inside = -INFINITY;
  for (int k = 0; k < 3; ++k) {
    float q = fabsf(p[k] - shape[k]) - shape[3 + k] + shape[6];
    float outer = fmaxf(q, 0.0f);
    length2 += outer * outer;
    inside = fmaxf(inside, q);
  }
  return sqrtf(length2) + fminf(inside, 0.0f) - shape[6];
}

__global__ void scene_distance(const float* points, const float* shapes, float* distance) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= kN) return;
  float best = INFINITY;
  for (int j = 0; j < kM; ++j)
    best = fminf(best, rounded_box(points + 3 * i, shapes + 7 * j));
  distance[i] = best;
}

void run(const float* d_points, const float* d_shapes, float* d_distance) {
  int threads = 128;
  scene_distance<<<(kN + threads - 1) / threads, threads>>>(d_points, d_shapes, d_distance);
}

int main() {
  std::vector<float> h_points(kN * 3);
  std::vector<float> h_shapes(kM * 7);
  std::vector<float> h_distance(kN);
  FILE* f = fopen("data/points.bin", "rb");
  if (!f || fread(h_points.data(), sizeof(float), h_points.size(), f) != h_points.size()) {
    fprintf(stderr, "cannot read data/points.bin\n");
    return 1;
  }
  fclose(f);
  f = fopen("data/shapes.bin", "rb");
  if (!f || fread(h_shapes.data(), sizeof(float), h_shapes.size(), f) != h_shapes.size()) {
    fprintf(stderr, "cannot read data/shapes.bin\n");
    return 1;
  }
  fclose(f);

  float *d_points, *d_shapes, *d_distance;
  cudaMalloc(&d_points, kN * 3 * sizeof(float));
  cudaMalloc(&d_shapes, kM * 7 * sizeof(float));
  cudaMalloc(&d_distance, kN * sizeof(float));
  cudaMemcpy(d_points, h_points.data(), kN * 3 * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemcpy(d_shapes, h_shapes.data(), kM * 7 * sizeof(float), cudaMemcpyHostToDevice);

  run(d_points, d_shapes, d_distance);

  cudaMemcpy(h_distance.data(), d_distance, kN * sizeof(float), cudaMemcpyDeviceToHost);
  f = fopen("data/distance.bin", "wb");
  fwrite(h_distance.data(), sizeof(float), h_distance.size(), f);
  fclose(f);

  cudaFree(d_points);
  cudaFree(d_shapes);
  cudaFree(d_distance);
  return 0;
}
