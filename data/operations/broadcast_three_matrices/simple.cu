#include <cuda_runtime.h>
#include <fstream>
#include <vector>

constexpr int HEADS = 3;
constexpr int ROWS = 60;
constexpr int COLS = 90;

__global__ void broadcast(const float *p, const float *q, const float *s, float *y) {
  int c = blockIdx.x * blockDim.x + threadIdx.x;
  int r = blockIdx.y;
  int h = blockIdx.z;
  if (c < COLS) {
    float a = p[h * COLS + c];
    float b = q[r * COLS + c];
    float offset = s[h * ROWS + r];
    float result = a < 0.0f && b < 0.0f ? offset - 1.0f : a * b + offset;
    y[((size_t)h * ROWS + r) * COLS + c] = result;
  }
}

int main() {
  const size_t p_count = HEADS * COLS;
  const int n_q = ROWS * COLS;
  const int s_count = HEADS * ROWS;
  const int n_y = HEADS * ROWS * COLS;
  std::vector<float> h_p(p_count);
  std::vector<float> h_q(n_q);
  std::vector<float> h_s(s_count);
  std::vector<float> h_y(n_y);
  if (!std::ifstream("data/p.bin", std::ios::binary).read((char*)h_p.data(), p_count * sizeof(float))) return 1;
  if (!std::ifstream("data/q.bin", std::ios::binary).read((char*)h_q.data(), n_q * sizeof(float))) return 1;
  if (!std::ifstream("data/s.bin", std::ios::binary).read((char*)h_s.data(), s_count * sizeof(float))) return 1;
  float *d_p = nullptr, *d_q = nullptr, *d_s = nullptr, *d_y = nullptr;
  cudaMalloc(&d_p, p_count * sizeof(float));
  cudaMalloc(&d_q, n_q * sizeof(float));
  cudaMalloc(&d_s, s_count * sizeof(float));
  cudaMalloc(&d_y, n_y * sizeof(float));
  cudaMemcpy(d_p, h_p.data(), p_count * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemcpy(d_q, h_q.data(), n_q * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemcpy(d_s, h_s.data(), s_count * sizeof(float), cudaMemcpyHostToDevice);
  dim3 grid((COLS + 127) / 128, ROWS, HEADS);
  broadcast<<<grid, 128>>>(d_p, d_q, d_s, d_y);
  cudaMemcpy(h_y.data(), d_y, n_y * sizeof(float), cudaMemcpyDeviceToHost);
  std::ofstream("data/y.bin", std::ios::binary).write((char*)h_y.data(), n_y * sizeof(float));
  cudaFree(d_p); cudaFree(d_q); cudaFree(d_s); cudaFree(d_y);
  return 0;
}
