#include <cuda_runtime.h>
#include <cstdio>
#include <cstdlib>
#include <vector>

inline void check(cudaError_t err, const char* what) {
  if (err != cudaSuccess) {
    fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(err));
    exit(1);
  }
}

bool readBinary(const char* path, std::vector<float>& v) {
  FILE* f = fopen(path, "rb");
  if (!f) return false;
  bool ok = fread(v.data(), sizeof(float), v.size(), f) == v.size();
  fclose(f);
  return ok;
}

bool writeBinary(const char* path, const std::vector<float>& v) {
  FILE* f = fopen(path, "wb");
  if (!f) return false;
  bool ok = fwrite(v.data(), sizeof(float), v.size(), f) == v.size();
  ok = fclose(f) == 0 && ok;
  return ok;
}

static const int COUNT = 9999;

__global__ void bent_identity(const float* x, float* value, float* slope, int n) {
  int tid = blockIdx.x * blockDim.x + threadIdx.x;
  if (tid < n) {
    float v = x[tid];
    float root = sqrtf(v * v + 1.0f);
    value[tid] = 0.5f * (root - 1.0f) + v;
    slope[tid] = v / (2.0f * root) + 1.0f;
  }
}

int main(void) {
  size_t bytes = COUNT * sizeof(float);
  std::vector<float> h_x(COUNT);
  std::vector<float> h_value(COUNT);
  std::vector<float> h_slope(COUNT);
  if (!readBinary("data/x.bin", h_x)) {
    fprintf(stderr, "cannot read data/x.bin\n");
    return 1;
  }

  float *d_x, *d_value, *d_slope;
  check(cudaMalloc(&d_x, bytes), "cudaMalloc x");
  check(cudaMalloc(&d_value, bytes), "cudaMalloc value");
  check(cudaMalloc(&d_slope, bytes), "cudaMalloc slope");
  check(cudaMemcpy(d_x, h_x.data(), bytes, cudaMemcpyHostToDevice), "copy x");

  const int block = 256;
  const int grid = (COUNT + block - 1) / block;
  bent_identity<<<grid, block>>>(d_x, d_value, d_slope, COUNT);
  check(cudaGetLastError(), "launch");
  check(cudaMemcpy(h_value.data(), d_value, bytes, cudaMemcpyDeviceToHost), "result");
  check(cudaMemcpy(h_slope.data(), d_slope, bytes, cudaMemcpyDeviceToHost), "result");

  if (!writeBinary("data/value.bin", h_value)) {
    fprintf(stderr, "cannot write data/value.bin\n");
    return 1;
  }
  if (!writeBinary("data/slope.bin", h_slope)) {
    fprintf(stderr, "cannot write data/slope.bin\n");
    return 1;
  }
  cudaFree(d_slope);
  cudaFree(d_value);
  cudaFree(d_x);
  return 0;
}
