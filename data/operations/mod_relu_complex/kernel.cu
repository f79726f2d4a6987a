#include <cstdio>
#include <cstdlib>
#include <vector>

#include <cuda_runtime.h>

#define ROWS 60
#define COLS 150

__global__ void mod_relu_float2(const float2* __restrict__ z, const float* __restrict__ bias, float2* __restrict__ w) {
  const int c = blockIdx.x * blockDim.x + threadIdx.x;
  if (c >= COLS) return;
  const float b = bias[c];
  const int first = blockIdx.y * 8;
  const int last = min(first + 8, ROWS);
  for (int r = first; r < last; ++r) {
    const float2 v = z[(size_t)r * COLS + c];
    const float square = fmaf(v.x, v.x, v.y * v.y);
    // (modulus + b) / modulus = 1 + b / modulus
    const float scale = square > 0.0f ? fmaxf(fmaf(b, rsqrtf(square), 1.0f), 0.0f) : 0.0f;
    w[(size_t)r * COLS + c] = make_float2(v.x * scale, v.y * scale);
  }
}

static void read(const char* path, void* dst, size_t bytes) {
  FILE* f = fopen(path, "rb");
  if (!f || fread(dst, 1, bytes, f) != bytes) {
    perror(path);
    exit(1);
  }
  fclose(f);
}

void solve(const float* d_z, const float* d_bias, float* d_w) {
  dim3 grid((COLS + 256 - 1) / 256, (ROWS + 7) / 8);
  mod_relu_float2<<<grid, 256>>>((const float2*)d_z, d_bias, (float2*)d_w);
}

int main() {
  const size_t numel = ROWS * COLS * 2;
  std::vector<float> h_z(numel);
  std::vector<float> h_bias(COLS);
  std::vector<float> h_w(numel);
  read("data/z.bin", h_z.data(), numel * sizeof(float));
  read("data/bias.bin", h_bias.data(), COLS * sizeof(float));

  float *d_z = nullptr, *d_bias = nullptr, *d_w = nullptr;
  cudaMalloc(&d_z, numel * sizeof(float));
  cudaMalloc(&d_bias, COLS * sizeof(float));
  cudaMalloc(&d_w, numel * sizeof(float));
  cudaMemcpy(d_z, h_z.data(), numel * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemcpy(d_bias, h_bias.data(), COLS * sizeof(float), cudaMemcpyHostToDevice);

  solve(d_z, d_bias, d_w);
  cudaMemcpy(h_w.data(), d_w, numel * sizeof(float), cudaMemcpyDeviceToHost);
  FILE* out = fopen("data/w.bin", "wb");
  fwrite(h_w.data(), sizeof(float), h_w.size(), out);
  fclose(out);
  cudaFree(d_w);
  cudaFree(d_bias);
  cudaFree(d_z);
  return 0;
}
