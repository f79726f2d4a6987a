#include <cstdio>
#include <cstdlib>
#include <vector>
#include <cuda_runtime.h>

static void require(cudaError_t err, const char* what) {
  if (err != cudaSuccess) {
    fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(err));
    exit(1);
  }
}

bool read_file(const char* path, std::vector<float>& v) {
  FILE* f = fopen(path, "rb");
  if (!f) return false;
  bool ok = fread(v.data(), sizeof(float), v.size(), f) == v.size();
  fclose(f);
  return ok;
}

bool write_file(const char* path, const std::vector<float>& v) {
  FILE* f = fopen(path, "wb");
  if (!f) return false;
  bool ok = fwrite(v.data(), sizeof(float), v.size(), f) == v.size();
  ok = fclose(f) == 0 && ok;
  return ok;
}

const int ROWS = 60;
const int COLS = 130;

__global__ void input_gradient(const float* x, const float* bias, const float* dy, float* dx, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    float s = x[i] + bias[i % COLS];
    float p = 1.0f / (1.0f + expf(-s));
    dx[i] = dy[i] * p * (1.0f + s * (1.0f - p));
  }
}

__global__ void column_sums(const float* dx, float* dbias) {
  int c = blockIdx.x * blockDim.x + threadIdx.x;
  if (c < COLS) {
    float sum = 0.0f;
    for (int r = 0; r < ROWS; ++r) sum += dx[(size_t)r * COLS + c];
    dbias[c] = sum;
  }
}

int main() {
  const int n = ROWS * COLS;
  std::vector<float> h_x(n);
  std::vector<float> h_bias(COLS);
  std::vector<float> h_dy(n);
  std::vector<float> h_dx(n);
  std::vector<float> h_dbias(COLS);
  if (!read_file("data/x.bin", h_x) ||
      !read_file("data/bias.bin", h_bias) ||
      !read_file("data/dy.bin", h_dy)) {
    fprintf(stderr, "cannot read the input files\n");
    return 1;
  }

  float *d_x, *d_bias, *d_dy, *d_dx, *d_dbias;
  require(cudaMalloc(&d_x, n * sizeof(float)), "cudaMalloc x");
  require(cudaMalloc(&d_bias, COLS * sizeof(float)), "cudaMalloc bias");
  require(cudaMalloc(&d_dy, n * sizeof(float)), "cudaMalloc dy");
  require(cudaMalloc(&d_dx, n * sizeof(float)), "cudaMalloc dx");
  require(cudaMalloc(&d_dbias, COLS * sizeof(float)), "cudaMalloc dbias");
  require(cudaMemcpy(d_x, h_x.data(), n * sizeof(float), cudaMemcpyHostToDevice), "memcpy x");
  require(cudaMemcpy(d_bias, h_bias.data(), COLS * sizeof(float), cudaMemcpyHostToDevice), "copy bias");
  require(cudaMemcpy(d_dy, h_dy.data(), n * sizeof(float), cudaMemcpyHostToDevice), "copy dy");

  input_gradient<<<(n + 256 - 1) / 256, 256>>>(d_x, d_bias, d_dy, d_dx, n);
  column_sums<<<(COLS + 128 - 1) / 128, 128>>>(d_dx, d_dbias);
  require(cudaGetLastError(), "kernel launch");
  require(cudaMemcpy(h_dx.data(), d_dx, n * sizeof(float), cudaMemcpyDeviceToHost), "result");
  require(cudaMemcpy(h_dbias.data(), d_dbias, COLS * sizeof(float), cudaMemcpyDeviceToHost), "download");

  if (!write_file("data/dx.bin", h_dx)) {
    fprintf(stderr, "cannot write data/dx.bin\n");
    return 1;
  }
  if (!write_file("data/dbias.bin", h_dbias)) {
    fprintf(stderr, "cannot write data/dbias.bin\n");
    return 1;
  }
  cudaFree(d_x);
  cudaFree(d_bias);
  cudaFree(d_dy);
  cudaFree(d_dx);
  cudaFree(d_dbias);
  return 0;
}
