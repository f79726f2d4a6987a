#include <fstream>
#include <vector>
#include <cuda_runtime.h>

#define HEIGHT 70
#define WIDTH 110
#define COLORS 5

// One block a row, so that the count needs no atomics.
__global__ void cyclic_row(const int* __restrict__ state, int* __restrict__ next_state, int* __restrict__ advanced) {
  __shared__ int partial[8];
  const int y = blockIdx.x;
  const int* mid = state + (size_t)y * WIDTH;
  const int* above = state + (size_t)(y > 0 ? y - 1 : HEIGHT - 1) * WIDTH;
  const int* below = state + (size_t)(y < HEIGHT - 1 ? y + 1 : 0) * WIDTH;
  int hits = 0;
  for (int x = threadIdx.x; x < WIDTH; x += 256) {
    const int s = mid[x];
    const int want = s == COLORS - 1 ? 0 : s + 1;
    const bool hit = above[x] == want || below[x] == want || mid[x > 0 ? x - 1 : WIDTH - 1] == want ||
                         mid[x < WIDTH - 1 ? x + 1 : 0] == want;
    next_state[(size_t)y * WIDTH + x] = hit ? want : s;
    hits += hit;
  }
  for (int d = 16; d > 0; d >>= 1) hits += __shfl_down_sync(0xffffffffu, hits, d);
  if (threadIdx.x % 32 == 0) partial[threadIdx.x / 32] = hits;
  __syncthreads();
  if (threadIdx.x == 0) {
    for (int w = 1; w < 8; ++w) hits += partial[w];
    advanced[y] = hits;
  }
}

int main() {
  size_t size = (size_t)HEIGHT * WIDTH;
  std::vector<int> h_state(size), h_next_state(size), h_advanced(HEIGHT);
  std::ifstream in0("data/state.bin", std::ios::binary);
  if (!in0.read((char*)h_state.data(), size * sizeof(int))) return 1;
  int *g_state, *g_next_state, *g_advanced;
  cudaMalloc(&g_state, size * sizeof(int));
  cudaMalloc(&g_next_state, size * sizeof(int));
  cudaMalloc(&g_advanced, HEIGHT * sizeof(int));
  cudaMemcpy(g_state, h_state.data(), size * sizeof(int), cudaMemcpyHostToDevice);
  cyclic_row<<<HEIGHT, 256>>>(g_state, g_next_state, g_advanced);
  cudaMemcpy(h_next_state.data(), g_next_state, size * sizeof(int), cudaMemcpyDeviceToHost);
  cudaMemcpy(h_advanced.data(), g_advanced, HEIGHT * sizeof(int), cudaMemcpyDeviceToHost);
  std::ofstream("data/next_state.bin", std::ios::binary).write((char*)h_next_state.data(), size * sizeof(int));
  std::ofstream("data/advanced.bin", std::ios::binary).write((char*)h_advanced.data(), HEIGHT * sizeof(int));
  cudaFree(g_state);
  cudaFree(g_next_state);
  cudaFree(g_advanced);
  return 0;
}
