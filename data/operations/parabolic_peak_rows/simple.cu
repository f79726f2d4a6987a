#include <cuda_runtime.h>
#include <cstdio>
#include <cstdlib>
#include <vector>

constexpr int ROWS = 100;
constexpr int BINS = 150;

inline void check(cudaError_t status, const char* what) {
  if (status != cudaSuccess) {
    fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(status));
    std::exit(1);
  }
}

static bool load_file(const char* path, void* data, size_t bytes) {
  FILE* f = fopen(path, "rb");
  if (!f) return false;
  bool ok = fread(data, 1, bytes, f) == bytes;
  fclose(f);
  return ok;
}

static bool save_file(const char* path, const void* data, size_t bytes) {
  FILE* f = fopen(path, "wb");
  if (!f) return false;
  bool ok = fwrite(data, 1, bytes, f) == bytes;
  fclose(f);
  return ok;
}

const int THREADS = 128;

__global__ void find_peak(const float* response, float* position, float* height) {
  __shared__ float value[THREADS];
  __shared__ int where[THREADS];
  const float* row = response + blockIdx.x * BINS;
  int tid = threadIdx.x;
  float best = row[0];
  int at = 0;
  for (int i = tid; i < BINS; i += THREADS) {
    if (row[i] > best) {
      best = row[i];
      at = i;
    }
  }
  value[tid] = best;
  where[tid] = at;
  __syncthreads();
  for (int s = THREADS / 2; s > 0; s /= 2) {
    if (tid < s) {
      float v = value[tid + s];
      int w = where[tid + s];
      if (v > value[tid] || (v == value[tid] && w < where[tid])) {
        value[tid] = v;
        where[tid] = w;
      }
    }
    __syncthreads();
  }
  if (tid == 0) {
    int k = where[0];
    float b = value[0], d = 0.0f, h = b;
    if (k > 0 && k < BINS - 1) {
      float a = row[k - 1], c = row[k + 1];
      float curve = a - 2.0f * b + c;
      if (curve != 0.0f) {
        d = 0.5f * (a - c) / curve;
        h = b - 0.25f * (a - c) * d;
      }
    }
    position[blockIdx.x] = k + d;
    height[blockIdx.x] = h;
  }
}

int main() {
  std::vector<float> h_response(ROWS * BINS);
  std::vector<float> h_position(ROWS);
  std::vector<float> h_height(ROWS);
  if (!load_file("data/response.bin", h_response.data(), sizeof(float) * ROWS * BINS)) {
    fprintf(stderr, "failed to read data/response.bin\n");
    return 1;
  }

  float* dev_response = nullptr;
  float* dev_position = nullptr;
  float* dev_height = nullptr;
  check(cudaMalloc(&dev_response, sizeof(float) * ROWS * BINS), "cudaMalloc");
  check(cudaMalloc(&dev_position, sizeof(float) * ROWS), "cudaMalloc");
  check(cudaMalloc(&dev_height, sizeof(float) * ROWS), "cudaMalloc");
  check(cudaMemcpy(dev_response, h_response.data(), sizeof(float) * ROWS * BINS, cudaMemcpyHostToDevice),
          "copy response");

  find_peak<<<ROWS, THREADS>>>(dev_response, dev_position, dev_height);
  check(cudaGetLastError(), "kernel launch");
  check(cudaMemcpy(h_position.data(), dev_position, sizeof(float) * ROWS, cudaMemcpyDeviceToHost), "copy position");
  check(cudaMemcpy(h_height.data(), dev_height, sizeof(float) * ROWS, cudaMemcpyDeviceToHost), "copy height");

  if (!save_file("data/position.bin", h_position.data(), sizeof(float) * ROWS)) return 1;
  if (!save_file("data/height.bin", h_height.data(), sizeof(float) * ROWS)) return 1;
  cudaFree(dev_response);
  cudaFree(dev_position);
  cudaFree(dev_height);
  return 0;
}
