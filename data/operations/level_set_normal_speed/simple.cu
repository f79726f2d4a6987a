#include <fstream>
#include <vector>
#include <cuda_runtime.h>

#define ROWS 110
#define COLS 170

__device__ float positive_sq(float t) { t = fmaxf(t, 0.0f); return t * t; }
__device__ float negative_sq(float t) { t = fminf(t, 0.0f); return t * t; }

__global__ void level_set_step(const float* phi, const float* speed, float* out) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= COLS || y >= ROWS) return;
  int i = y * COLS + x;
  float p = phi[i], f = speed[i];
  float a = x > 0 ? p - phi[i - 1] : 0.0f;
  float b = x < COLS - 1 ? phi[i + 1] - p : 0.0f;
  float c = y > 0 ? p - phi[i - COLS] : 0.0f;
  float d = y < ROWS - 1 ? phi[i + COLS] - p : 0.0f;
  float grow = sqrtf(positive_sq(a) + negative_sq(b) + positive_sq(c) + negative_sq(d));
  float shrink = sqrtf(negative_sq(a) + positive_sq(b) + negative_sq(c) + positive_sq(d));
  out[i] = p - 0.3f * (fmaxf(f, 0.0f) * grow + fminf(f, 0.0f) * shrink);
}

int main() {
  size_t count = (size_t)ROWS * COLS;
  std::vector<float> h_phi(count), h_speed(count), h_phi_next(count);
  std::ifstream in0("data/phi.bin", std::ios::binary);
  if (!in0.read((char*)h_phi.data(), count * sizeof(float))) return 1;
  std::ifstream in1("data/speed.bin", std::ios::binary);
  if (!in1.read((char*)h_speed.data(), count * sizeof(float))) return 1;
  float *g_phi, *g_speed, *g_phi_next;
  cudaMalloc(&g_phi, count * sizeof(float));
  cudaMalloc(&g_speed, count * sizeof(float));
  cudaMalloc(&g_phi_next, count * sizeof(float));
  cudaMemcpy(g_phi, h_phi.data(), count * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemcpy(g_speed, h_speed.data(), count * sizeof(float), cudaMemcpyHostToDevice);
  dim3 block(16, 16);
  dim3 grid((COLS + 15) / 16, (ROWS + 15) / 16);
  level_set_step<<<grid, block>>>(g_phi, g_speed, g_phi_next);
  cudaMemcpy(h_phi_next.data(), g_phi_next, count * sizeof(float), cudaMemcpyDeviceToHost);
  std::ofstream("data/phi_next.bin", std::ios::binary).write((char*)h_phi_next.data(), count * sizeof(float));
  return 0;
}
