#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>
#include <cuda_runtime.h>

constexpr int BATCH = 3;
constexpr int ROWS = 45;
constexpr int COLS = 61;
constexpr int CELLS = ROWS * COLS;
constexpr int RED = (CELLS + 1) / 2;
constexpr int BLACK = CELLS / 2;

template <typename T>
struct CudaArray {
  T* p = nullptr;
  explicit CudaArray(size_t n) {
    if (cudaMalloc(&p, n * sizeof(T)) != cudaSuccess) throw std::runtime_error("cudaMalloc failed");
  }
  ~CudaArray() { cudaFree(p); }
  CudaArray(const CudaArray&) = delete;
  CudaArray& operator=(const CudaArray&) = delete;
};

template <typename T>
void load(const std::string& path, std::vector<T>& v) {
  std::ifstream in(path, std::ios::binary);
  if (!in.read(reinterpret_cast<char*>(v.data()), v.size() * sizeof(T)))
    throw std::runtime_error("cannot read " + path);
}

__global__ void split_colors(const float* grid, float* red, float* black) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= BATCH * CELLS) return;
  int b = i / CELLS;
  int r = i % CELLS / COLS;
  int c = i % COLS;
  // With an odd number of columns a row begins with the color that follows the last cell of the row before.
  if ((r + c) % 2 == 0) red[b * RED + (r * COLS + 1) / 2 + c / 2] = grid[i];
  else black[b * BLACK + r * COLS / 2 + c / 2] = grid[i];
}

int main() {
  const size_t gridCount = (size_t)BATCH * ROWS * COLS;
  const size_t redCount = (size_t)BATCH * ((ROWS * COLS + 1) / 2);
  const size_t blackCount = (size_t)BATCH * (ROWS * COLS / 2);
  std::vector<float> host_grid(gridCount);
  std::vector<float> host_red(redCount);
  std::vector<float> host_black(blackCount);
  load("data/grid.bin", host_grid);

  CudaArray<float> d_grid(gridCount), d_red(redCount), d_black(blackCount);
  cudaMemcpy(d_grid.p, host_grid.data(), gridCount * sizeof(float), cudaMemcpyHostToDevice);

  split_colors<<<(BATCH * CELLS + 255) / 256, 256>>>(d_grid.p, d_red.p, d_black.p);
  cudaError_t status = cudaDeviceSynchronize();
  if (status != cudaSuccess) throw std::runtime_error(cudaGetErrorString(status));

  cudaMemcpy(host_red.data(), d_red.p, redCount * sizeof(float), cudaMemcpyDeviceToHost);
  std::ofstream("data/red.bin", std::ios::binary).write(reinterpret_cast<const char*>(host_red.data()),
    redCount * sizeof(float));
  cudaMemcpy(host_black.data(), d_black.p, blackCount * sizeof(float), cudaMemcpyDeviceToHost);
  std::ofstream("data/black.bin", std::ios::binary).write(reinterpret_cast<const char*>(host_black.data()),
    blackCount * sizeof(float));
  return 0;
}
