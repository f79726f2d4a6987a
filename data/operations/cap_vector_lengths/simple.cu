#include <cstdio>
#include <cstdlib>
#include <vector>
#include <cuda_runtime.h>

constexpr int POINTS = 3000;
constexpr int DIM = 7;

__global__ void cap_lengths(const float* vectors, const float* limit, float* capped, int* clipped) {
  int p = blockIdx.x * blockDim.x + threadIdx.x;
  if (p >= POINTS) return;
  float sq = 0.0f;
  for (int k = 0; k < DIM; k++) {
    float v = vectors[k * POINTS + p];
    sq += v * v;
  }
  float length = sqrtf(sq);
  bool over = length > limit[p];
  float scale = over ? limit[p] / length : 1.0f;
  for (int k = 0; k < DIM; k++) capped[k * POINTS + p] = vectors[k * POINTS + p] * scale;
  clipped[p] = over ? 1 : 0;
}

static inline void verify(cudaError_t code, const char* what) {
  if (code != cudaSuccess) {
    fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(code));
    exit(1);
  }
}

static bool load_raw(const char* path, void* dst, size_t bytes) {
  FILE* file = fopen(path, "rb");
  if (!file) return false;
  bool ok = fread(dst, 1, bytes, file) == bytes;
  fclose(file);
  return ok;
}

static bool store_raw(const char* path, const void* src, size_t bytes) {
  FILE* file = fopen(path, "wb");
  if (!file) return false;
  bool ok = fwrite(src, 1, bytes, file) == bytes;
  fclose(file);
  return ok;
}

int main() {
  const int vectors_elems = DIM * POINTS;
  std::vector<float> h_vectors(vectors_elems);
  std::vector<float> h_limit(POINTS);
  std::vector<float> h_capped(vectors_elems);
  std::vector<int> h_clipped(POINTS);
  if (!load_raw("data/vectors.bin", h_vectors.data(), vectors_elems * sizeof(float)) ||
    !load_raw("data/limit.bin", h_limit.data(), POINTS * sizeof(float))) {
    fprintf(stderr, "reading input failed\n");
    return 1;
  }

  float *d_vectors = nullptr, *d_limit = nullptr, *d_capped = nullptr;
  int *d_clipped = nullptr;
  verify(cudaMalloc(&d_vectors, vectors_elems * sizeof(float)), "alloc vectors");
  verify(cudaMalloc(&d_limit, POINTS * sizeof(float)), "malloc limit");
  verify(cudaMalloc(&d_capped, vectors_elems * sizeof(float)), "malloc capped");
  verify(cudaMalloc(&d_clipped, POINTS * sizeof(int)), "cudaMalloc clipped");
  verify(cudaMemcpy(d_vectors, h_vectors.data(), vectors_elems * sizeof(float), cudaMemcpyHostToDevice),
      "copy vectors");
  verify(cudaMemcpy(d_limit, h_limit.data(), POINTS * sizeof(float), cudaMemcpyHostToDevice), "copy limit");

  const int threads = 256;
  cap_lengths<<<(POINTS + threads - 1) / threads, threads>>>(d_vectors, d_limit, d_capped, d_clipped);
  verify(cudaGetLastError(), "launch");
  verify(cudaDeviceSynchronize(), "kernel");
  verify(cudaMemcpy(h_capped.data(), d_capped, vectors_elems * sizeof(float), cudaMemcpyDeviceToHost),
      "copy capped");
  verify(cudaMemcpy(h_clipped.data(), d_clipped, POINTS * sizeof(int), cudaMemcpyDeviceToHost), "copy clipped");

  if (!store_raw("data/capped.bin", h_capped.data(), vectors_elems * sizeof(float))) return 1;
  if (!store_raw("data/clipped.bin", h_clipped.data(), POINTS * sizeof(int))) return 1;
  cudaFree(d_vectors);
  cudaFree(d_limit);
  cudaFree(d_capped);
  cudaFree(d_clipped);
  return 0;
}
