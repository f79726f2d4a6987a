#include <cuda_runtime.h>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

template <typename T>
std::vector<T> load(const std::string& path, size_t count) {
  std::vector<T> values(count);
  std::ifstream in(path, std::ios::binary);
  if (!in.read(reinterpret_cast<char*>(values.data()), count * sizeof(T))) {
    throw std::runtime_error("cannot read " + path);
  }
  return values;
}

template <typename T>
void store(const std::string& path, const std::vector<T>& values) {
  std::ofstream out(path, std::ios::binary);
  out.write(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T));
}
//@given

constexpr int ROWS = 300;
constexpr int WIDTH = 37;
constexpr int TRIM = WIDTH / 8;
constexpr int WARPS = 4;

// Each warp owns one row, kept in its slice of shared memory.
__global__ void trimmed_mean_warps(const float* __restrict__ x, float* __restrict__ trimmed) {
  __shared__ float rows[WARPS][WIDTH];
  int warp = threadIdx.x >> 5;
  int lane = threadIdx.x & 31;
  int r = blockIdx.x * WARPS + warp;
  if (r >= ROWS) return;
  float* row = rows[warp];
  for (int i = lane; i < WIDTH; i += 32) row[i] = x[(size_t)r * WIDTH + i];
  __syncwarp();
  float sum = 0.0f;
  for (int i = lane; i < WIDTH; i += 32) {
    float v = row[i];
    int rank = 0;
    for (int j = 0; j < i; ++j) rank += row[j] <= v;
    for (int j = i + 1; j < WIDTH; ++j) rank += row[j] < v;
    if (rank >= TRIM && rank < WIDTH - TRIM) sum += v;
  }
  for (int s = 16; s > 0; s >>= 1) sum += __shfl_xor_sync(0xffffffffu, sum, s);
  if (lane == 0) trimmed[r] = sum * (1.0f / (WIDTH - 2 * TRIM));
}

int main() {
  constexpr size_t n = (size_t)ROWS * WIDTH;
  const auto h_x = load<float>("data/x.bin", n);

  float *dX, *dTrimmed;
  cudaMalloc(&dX, n * sizeof(float));
  cudaMalloc(&dTrimmed, ROWS * sizeof(float));
  cudaMemcpy(dX, h_x.data(), n * sizeof(float), cudaMemcpyHostToDevice);

  int blocks = (ROWS + WARPS - 1) / WARPS;
  trimmed_mean_warps<<<blocks, 32 * WARPS>>>(dX, dTrimmed);
  if (auto err = cudaGetLastError(); err != cudaSuccess) throw std::runtime_error(cudaGetErrorString(err));

  std::vector<float> h_trimmed(ROWS);
  cudaMemcpy(h_trimmed.data(), dTrimmed, ROWS * sizeof(float), cudaMemcpyDeviceToHost);
  store("data/trimmed.bin", h_trimmed);
  cudaFree(dX);
  cudaFree(dTrimmed);
  return 0;
}
