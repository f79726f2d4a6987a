#include <cuda_runtime.h>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>
#include <vector>

template <typename T>
std::vector<T> load_file(const std::string& path, size_t n) {
  std::vector<T> values(n);
  std::ifstream file(path, std::ios::binary);
  if (!file.read(reinterpret_cast<char*>(values.data()), n * sizeof(T))) {
    std::cerr << "cannot read " << path << "\n";
    std::exit(1);
  }
  return values;
}

template <typename T>
void save_file(const std::string& path, const std::vector<T>& values) {
  std::ofstream out(path, std::ios::binary);
  out.write(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T));
}
//@given

constexpr int kRows = 700;
constexpr int kNonzeros = 5000;
constexpr int kSlots = 12;

__global__ void to_ellpack(const int* row_start, const int* col_index, const float* value, int* ell_col,
                           float* ell_value, int* dropped) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= kRows) return;
  int begin = row_start[r];
  int n = row_start[r + 1] - begin;
  for (int k = 0; k < kSlots; k++) {
    bool used = k < n;
    ell_col[k * kRows + r] = used ? col_index[begin + k] : -1;
    ell_value[k * kRows + r] = used ? value[begin + k] : 0.0f;
  }
  dropped[r] = n > kSlots ? n - kSlots : 0;
}

int main() {
  constexpr size_t num_row_start = kRows + 1;
  constexpr size_t num_ell_col = (size_t)12 * kRows;
  const auto row_start = load_file<int>("data/row_start.bin", num_row_start);
  auto col_index = load_file<int>("data/col_index.bin", kNonzeros);
  auto value = load_file<float>("data/value.bin", kNonzeros);
  std::vector<int> ell_col(num_ell_col);
  std::vector<float> ell_value(num_ell_col);
  std::vector<int> dropped(kRows);

  int* dev_row_start = nullptr;
  cudaMalloc(&dev_row_start, num_row_start * sizeof(int));
  cudaMemcpy(dev_row_start, row_start.data(), num_row_start * sizeof(int), cudaMemcpyHostToDevice);
  int* dev_col_index = nullptr;
  cudaMalloc(&dev_col_index, kNonzeros * sizeof(int));
  cudaMemcpy(dev_col_index, col_index.data(), kNonzeros * sizeof(int), cudaMemcpyHostToDevice);
  float* dev_value = nullptr;
  cudaMalloc(&dev_value, kNonzeros * sizeof(float));
  cudaMemcpy(dev_value, value.data(), kNonzeros * sizeof(float), cudaMemcpyHostToDevice);
  int* dev_ell_col = nullptr;
  cudaMalloc(&dev_ell_col, num_ell_col * sizeof(int));
  float* dev_ell_value = nullptr;
  cudaMalloc(&dev_ell_value, num_ell_col * sizeof(float));
  int* dev_dropped = nullptr;
  cudaMalloc(&dev_dropped, kRows * sizeof(int));

  to_ellpack<<<(kRows + 127) / 128, 128>>>(dev_row_start, dev_col_index, dev_value, dev_ell_col,
      dev_ell_value, dev_dropped);
  cudaError_t status = cudaDeviceSynchronize();
  if (status != cudaSuccess) {
    std::cerr << "CUDA error: " << cudaGetErrorString(status) << std::endl;
    return 1;
  }
  cudaMemcpy(ell_col.data(), dev_ell_col, num_ell_col * sizeof(int), cudaMemcpyDeviceToHost);
  cudaMemcpy(ell_value.data(), dev_ell_value, num_ell_col * sizeof(float), cudaMemcpyDeviceToHost);
  cudaMemcpy(dropped.data(), dev_dropped, kRows * sizeof(int), cudaMemcpyDeviceToHost);
  save_file("data/ell_col.bin", ell_col);
  save_file("data/ell_value.bin", ell_value);
  save_file("data/dropped.bin", dropped);

  cudaFree(dev_row_start);
  cudaFree(dev_col_index);
  cudaFree(dev_value);
  cudaFree(dev_ell_col);
  cudaFree(dev_ell_value);
  cudaFree(dev_dropped);
  return 0;
}
