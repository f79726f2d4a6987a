#include <cstdio>
#include <cstdlib>
#include <vector>
#include <cuda_runtime.h>

static const int ROWS = 200;
static const int LENGTH = 24;

inline void must(cudaError_t status, const char* what) {
  if (status != cudaSuccess) {
    fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(status));
    std::exit(1);
  }
}

static bool read_file(const char* path, void* data, size_t bytes) {
  FILE* f = fopen(path, "rb");
  if (!f) return false;
  bool ok = fread(data, 1, bytes, f) == bytes;
  fclose(f);
  return ok;
}

bool write_file(const char* path, const void* data, size_t bytes) {
  FILE* f = fopen(path, "wb");
  if (!f) return false;
  bool ok = fwrite(data, 1, bytes, f) == bytes;
  fclose(f);
  return ok;
}

__global__ void dct_rows(const float* x, float* coefficients) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= ROWS * LENGTH) return;
  int row = i / LENGTH;
  int k = i % LENGTH;
  float sum = 0.0f;
  for (int n = 0; n < LENGTH; n++) {
    // The angle has the period 4 * LENGTH in units of pi / (2 * LENGTH).
    int phase = (2 * n + 1) * k % (4 * LENGTH);
    sum += x[row * LENGTH + n] * cospif((float)phase / (2 * LENGTH));
  }
  float scale = k == 0 ? sqrtf(1.0f / LENGTH) : sqrtf(2.0f / LENGTH);
  coefficients[i] = scale * sum;
}

int main() {
  std::vector<float> h_x(ROWS * LENGTH);
  std::vector<float> h_coefficients(ROWS * LENGTH);
  if (!read_file("data/x.bin", h_x.data(), sizeof(float) * ROWS * LENGTH)) {
    fprintf(stderr, "data/x.bin: read error\n");
    return 1;
  }

  float* dev_x = nullptr;
  float* dev_coefficients = nullptr;
  must(cudaMalloc(&dev_x, sizeof(float) * ROWS * LENGTH), "cudaMalloc x");
  must(cudaMalloc(&dev_coefficients, sizeof(float) * ROWS * LENGTH), "cudaMalloc");
  must(cudaMemcpy(dev_x, h_x.data(), sizeof(float) * ROWS * LENGTH, cudaMemcpyHostToDevice), "copy x");

  dct_rows<<<(ROWS * LENGTH + 255) / 256, 256>>>(dev_x, dev_coefficients);
  must(cudaGetLastError(), "kernel launch");
  must(cudaMemcpy(h_coefficients.data(), dev_coefficients, sizeof(float) * ROWS * LENGTH,
          cudaMemcpyDeviceToHost), "copy coefficients");

  if (!write_file("data/coefficients.bin", h_coefficients.data(), sizeof(float) * ROWS * LENGTH)) return 1;
  cudaFree(dev_x);
  cudaFree(dev_coefficients);
  return 0;
}
