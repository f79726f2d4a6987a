#include <cstdio>
#include <cstdlib>
#include <vector>
#include <cuda_runtime.h>

static const int ROWS = 40;
static const int COLS = 500;

inline void check_cuda(cudaError_t status, const char* where) {
  if (status != cudaSuccess) {
    fprintf(stderr, "%s: %s\n", where, cudaGetErrorString(status));
    std::exit(1);
  }
}

static bool read_all(const char* path, void* ptr, size_t bytes) {
  FILE* f = fopen(path, "rb");
  if (!f) return false;
  bool ok = fread(ptr, 1, bytes, f) == bytes;
  fclose(f);
  return ok;
}

static bool write_all(const char* path, const void* ptr, size_t bytes) {
  FILE* f = fopen(path, "wb");
  if (!f) return false;
  bool ok = fwrite(ptr, 1, bytes, f) == bytes;
  fclose(f);
  return ok;
}

// A thread keeps one column's scale in registers and walks down the rows.
__global__ void cauchy_by_column(const float* __restrict__ pred, const float* __restrict__ target,
                 const float* __restrict__ scale, float* __restrict__ loss) {
  const int col = blockIdx.x * blockDim.x + threadIdx.x;
  if (col >= COLS) return;
  const float c = scale[col];
  const float inv = 1.0f / c;
  const float half = 0.5f * c * c;
  for (int row = blockIdx.y; row < ROWS; row += gridDim.y) {
    const size_t at = (size_t)row * COLS + col;
    const float q = (pred[at] - target[at]) * inv;
    loss[at] = half * log1pf(q * q);
  }
}

int main() {
  std::vector<float> host_pred(ROWS * COLS);
  std::vector<float> host_target(ROWS * COLS);
  std::vector<float> host_scale(COLS);
  std::vector<float> host_loss(ROWS * COLS);
  if (!read_all("data/pred.bin", host_pred.data(), ROWS * COLS * sizeof(float))) {
    fprintf(stderr, "cannot read data/pred.bin\n");
    return 1;
  }
  if (!read_all("data/target.bin", host_target.data(), ROWS * COLS * sizeof(float))) {
    fprintf(stderr, "cannot read data/target.bin\n");
    return 1;
  }
  if (!read_all("data/scale.bin", host_scale.data(), COLS * sizeof(float))) {
    fprintf(stderr, "cannot read data/scale.bin\n");
    return 1;
  }

  float* d_pred;
  float* d_target;
  float* d_scale;
  float* d_loss;
  check_cuda(cudaMalloc(&d_pred, ROWS * COLS * sizeof(float)), "cudaMalloc pred");
  check_cuda(cudaMalloc(&d_target, ROWS * COLS * sizeof(float)), "cudaMalloc target");
  check_cuda(cudaMalloc(&d_scale, COLS * sizeof(float)), "cudaMalloc scale");
  check_cuda(cudaMalloc(&d_loss, ROWS * COLS * sizeof(float)), "cudaMalloc loss");
  check_cuda(cudaMemcpy(d_pred, host_pred.data(), ROWS * COLS * sizeof(float), cudaMemcpyHostToDevice),
          "memcpy pred");
  check_cuda(cudaMemcpy(d_target, host_target.data(), ROWS * COLS * sizeof(float), cudaMemcpyHostToDevice),
          "memcpy target");
  check_cuda(cudaMemcpy(d_scale, host_scale.data(), COLS * sizeof(float), cudaMemcpyHostToDevice), "memcpy scale");

  dim3 grid((COLS + 127) / 128, ROWS < 256 ? ROWS : 256);
  cauchy_by_column<<<grid, 128>>>(d_pred, d_target, d_scale, d_loss);
  check_cuda(cudaGetLastError(), "kernel");

  check_cuda(cudaMemcpy(host_loss.data(), d_loss, ROWS * COLS * sizeof(float), cudaMemcpyDeviceToHost),
          "download loss");
  if (!write_all("data/loss.bin", host_loss.data(), ROWS * COLS * sizeof(float))) {
    fprintf(stderr, "cannot write data/loss.bin\n");
    return 1;
  }
  cudaFree(d_pred);
  cudaFree(d_target);
  cudaFree(d_scale);
  cudaFree(d_loss);
  return 0;
}
