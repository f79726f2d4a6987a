#include <cuda_runtime.h>
#include <cstdio>
#include <cstdlib>
#include <vector>

bool load(const char* path, std::vector<float>& v) {
  FILE* f = fopen(path, "rb");
  if (!f) return false;
  bool ok = fread(v.data(), sizeof(float), v.size(), f) == v.size();
  fclose(f);
  return ok;
}

bool save(const char* path, const std::vector<float>& v) {
  FILE* f = fopen(path, "wb");
  if (!f) return false;
  bool ok = fwrite(v.data(), sizeof(float), v.size(), f) == v.size();
  fclose(f);
  return ok;
}

inline void check(cudaError_t err, const char* what) {
  if (err != cudaSuccess) {
    fprintf(stderr, "CUDA error in %s: %s\n", what, cudaGetErrorString(err));
    exit(1);
  }
}

constexpr int FRAMES = 10;
constexpr int POINTS = 800;

__global__ void hermite_path(const float* p0, const float* m0, const float* p1, const float* m1, const float* t,
                             float* path) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  int f = blockIdx.y;
  if (i < POINTS) {
    float s = t[f];
    float s2 = s * s;
    float s3 = s2 * s;
    path[(size_t)f * POINTS + i] = (2.0f * s3 - 3.0f * s2 + 1.0f) * p0[i] + (s3 - 2.0f * s2 + s) * m0[i]
                    + (3.0f * s2 - 2.0f * s3) * p1[i] + (s3 - s2) * m1[i];
  }
}

int main() {
  const int n_path = FRAMES * POINTS;
  std::vector<float> h_p0(POINTS);
  std::vector<float> h_m0(POINTS);
  std::vector<float> h_p1(POINTS);
  std::vector<float> h_m1(POINTS);
  std::vector<float> h_t(FRAMES);
  std::vector<float> h_path(n_path);
  if (!load("data/p0.bin", h_p0) ||
      !load("data/m0.bin", h_m0) ||
      !load("data/p1.bin", h_p1) ||
      !load("data/m1.bin", h_m1) ||
      !load("data/t.bin", h_t)) {
    fprintf(stderr, "cannot read the input files\n");
    return 1;
  }

  float *d_p0, *d_m0, *d_p1, *d_m1, *d_t, *d_path;
  check(cudaMalloc(&d_p0, POINTS * sizeof(float)), "cudaMalloc p0");
  check(cudaMalloc(&d_m0, POINTS * sizeof(float)), "cudaMalloc m0");
  check(cudaMalloc(&d_p1, POINTS * sizeof(float)), "cudaMalloc p1");
  check(cudaMalloc(&d_m1, POINTS * sizeof(float)), "cudaMalloc m1");
  check(cudaMalloc(&d_t, FRAMES * sizeof(float)), "cudaMalloc t");
  check(cudaMalloc(&d_path, n_path * sizeof(float)), "cudaMalloc path");
  check(cudaMemcpy(d_p0, h_p0.data(), POINTS * sizeof(float), cudaMemcpyHostToDevice), "memcpy p0");
  check(cudaMemcpy(d_m0, h_m0.data(), POINTS * sizeof(float), cudaMemcpyHostToDevice), "copy m0");
  check(cudaMemcpy(d_p1, h_p1.data(), POINTS * sizeof(float), cudaMemcpyHostToDevice), "memcpy p1");
  check(cudaMemcpy(d_m1, h_m1.data(), POINTS * sizeof(float), cudaMemcpyHostToDevice), "copy m1");
  check(cudaMemcpy(d_t, h_t.data(), FRAMES * sizeof(float), cudaMemcpyHostToDevice), "memcpy t");

  dim3 grid((POINTS + 256 - 1) / 256, FRAMES);
  hermite_path<<<grid, 256>>>(d_p0, d_m0, d_p1, d_m1, d_t, d_path);
  check(cudaGetLastError(), "launch");
  check(cudaMemcpy(h_path.data(), d_path, n_path * sizeof(float), cudaMemcpyDeviceToHost), "result");
  if (!save("data/path.bin", h_path)) {
    fprintf(stderr, "cannot write data/path.bin\n");
    return 1;
  }
  cudaFree(d_p0);
  cudaFree(d_m0);
  cudaFree(d_p1);
  cudaFree(d_m1);
  cudaFree(d_t);
  cudaFree(d_path);
  return 0;
}
