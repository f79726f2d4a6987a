#include <cuda_runtime.h>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

template <typename T>
std::vector<T> load_file(const std::string& path, size_t count) {
  std::vector<T> values(count);
  std::ifstream in(path, std::ios::binary);
  if (!in.read(reinterpret_cast<char*>(values.data()), count * sizeof(T))) {
    throw std::runtime_error("failed to read " + path);
  }
  return values;
}

template <typename T>
void store_file(const std::string& path, const std::vector<T>& values) {
  std::ofstream out(path, std::ios::binary);
  out.write(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T));
}
//@given

constexpr int ROWS = 60;
constexpr int COLS = 300;

// One thread per row. The answers found so far are the links of a stack of greater elements.
__global__ void previous_greater_links(const float* __restrict__ x, int* before) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= ROWS) return;
  const float* row = x + (size_t)r * COLS;
  int* link = before + (size_t)r * COLS;
  for (int c = 0; c < COLS; ++c) {
    float v = row[c];
    int p = c - 1;
    while (p >= 0 && row[p] <= v) p = link[p];
    link[c] = p;
  }
}

int main() {
  constexpr size_t numel = (size_t)ROWS * COLS;
  const auto h_x = load_file<float>("data/x.bin", numel);

  float* x_dev = nullptr;
  int* before_dev = nullptr;
  cudaMalloc(&x_dev, numel * sizeof(float));
  cudaMalloc(&before_dev, numel * sizeof(int));
  cudaMemcpy(x_dev, h_x.data(), numel * sizeof(float), cudaMemcpyHostToDevice);

  const int threads = 32;
  previous_greater_links<<<(ROWS + threads - 1) / threads, threads>>>(x_dev, before_dev);
  const auto status = cudaDeviceSynchronize();
  if (status != cudaSuccess) throw std::runtime_error(cudaGetErrorString(status));

  std::vector<int> h_before(numel);
  cudaMemcpy(h_before.data(), before_dev, numel * sizeof(int), cudaMemcpyDeviceToHost);
  store_file("data/before.bin", h_before);
  cudaFree(x_dev);
  cudaFree(before_dev);
  return 0;
}
