#include <cstdio>
#include <cstdlib>
#include <vector>
#include <cuda_runtime.h>

const int ROWS = 100;
const int COLS = 140;
const int BAND = 32;
const int BANDS = (ROWS + BAND - 1) / BAND;
const int DIAGONALS = ROWS + COLS - 1;

// Diagonal k meets row r in column r + k - (ROWS - 1).
__global__ void band_sums(const float* __restrict__ x, float* sums) {
  int k = blockIdx.x * blockDim.x + threadIdx.x;
  if (k >= DIAGONALS) return;
  int begin = blockIdx.y * BAND, end = min(begin + BAND, ROWS);
  float sum = 0.0f;
  for (int r = begin; r < end; ++r) {
    int c = r + k - (ROWS - 1);
    if (c >= 0 && c < COLS) sum += x[(size_t)r * COLS + c];
  }
  sums[(size_t)blockIdx.y * DIAGONALS + k] = sum;
}

__global__ void offsets(float* sums) {
  int k = blockIdx.x * blockDim.x + threadIdx.x;
  if (k >= DIAGONALS) return;
  float before = 0.0f;
  for (int b = 0; b < BANDS; ++b) {
    float own = sums[(size_t)b * DIAGONALS + k];
    sums[(size_t)b * DIAGONALS + k] = before;
    before += own;
  }
}

__global__ void scan_bands(const float* __restrict__ x, const float* __restrict__ sums, float* y) {
  int k = blockIdx.x * blockDim.x + threadIdx.x;
  if (k >= DIAGONALS) return;
  int begin = blockIdx.y * BAND, end = min(begin + BAND, ROWS);
  float sum = sums[(size_t)blockIdx.y * DIAGONALS + k];
  for (int r = begin; r < end; ++r) {
    int c = r + k - (ROWS - 1);
    if (c < 0 || c >= COLS) continue;
    sum += x[(size_t)r * COLS + c];
    y[(size_t)r * COLS + c] = sum;
  }
}

static void launch_diagonal(const float* dX, float* dY) {
  float* dSums;
  cudaMalloc(&dSums, BANDS * DIAGONALS * sizeof(float));
  int columns = (DIAGONALS + 128 - 1) / 128;
  dim3 grid(columns, BANDS);
  band_sums<<<grid, 128>>>(dX, dSums);
  offsets<<<columns, 128>>>(dSums);
  scan_bands<<<grid, 128>>>(dX, dSums, dY);
  cudaFree(dSums);
}

int main() {
  const size_t size = (size_t)ROWS * COLS;
  std::vector<float> host_x(size);
  std::vector<float> host_y(size);
  FILE* in = fopen("data/x.bin", "rb");
  if (!in || fread(host_x.data(), sizeof(float), size, in) != size) {
    fprintf(stderr, "cannot read data/x.bin\n");
    return EXIT_FAILURE;
  }
  fclose(in);

  float* dX;
  float* dY = nullptr;
  cudaMalloc(&dX, size * sizeof(float));
  cudaMalloc(&dY, size * sizeof(float));
  cudaMemcpy(dX, host_x.data(), size * sizeof(float), cudaMemcpyHostToDevice);

  launch_diagonal(dX, dY);
  if (cudaDeviceSynchronize() != cudaSuccess) {
    fprintf(stderr, "CUDA failure: %s\n", cudaGetErrorString(cudaGetLastError()));
    return 1;
  }

  cudaMemcpy(host_y.data(), dY, size * sizeof(float), cudaMemcpyDeviceToHost);
  FILE* out = fopen("data/y.bin", "wb");
  fwrite(host_y.data(), sizeof(float), size, out);
  fclose(out);
  cudaFree(dX);
  cudaFree(dY);
  return 0;
}
