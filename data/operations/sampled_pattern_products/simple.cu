#include <cuda_runtime.h>
#include <cstdio>
#include <cstdlib>
#include <vector>

constexpr int kRows = 300;
constexpr int kCols = 400;
constexpr int kRank = 16;
constexpr int kEntries = 3000;

inline void checkCuda(cudaError_t status, const char* step) {
  if (status != cudaSuccess) {
    fprintf(stderr, "%s: %s\n", step, cudaGetErrorString(status));
    exit(1);
  }
}

template <typename T>
bool read_all(const char* path, std::vector<T>& v) {
  FILE* f = fopen(path, "rb");
  if (!f) return false;
  size_t got = fread(v.data(), sizeof(T), v.size(), f);
  fclose(f);
  return got == v.size();
}

template <typename T>
bool write_all(const char* path, const std::vector<T>& v) {
  FILE* f = fopen(path, "wb");
  if (!f) return false;
  size_t put = fwrite(v.data(), sizeof(T), v.size(), f);
  fclose(f);
  return put == v.size();
}

__global__ void sampled_product(const float* left, const float* right, const int* row, const int* col,
                const float* value, float* product) {
  int k = blockIdx.x * blockDim.x + threadIdx.x;
  if (k >= kEntries) return;
  const float* a = left + row[k] * kRank;
  const float* b = right + col[k] * kRank;
  float sum = 0.0f;
  for (int j = 0; j < kRank; ++j) sum += a[j] * b[j];
  product[k] = value[k] * sum;
}

int main() {
  std::vector<float> left(kRows * kRank);
  std::vector<float> right(kCols * kRank);
  std::vector<int> row(kEntries);
  std::vector<int> col(kEntries);
  std::vector<float> value(kEntries);
  std::vector<float> product(kEntries);
  if (!read_all("data/left.bin", left) ||
    !read_all("data/right.bin", right) ||
    !read_all("data/row.bin", row) ||
    !read_all("data/col.bin", col) ||
    !read_all("data/value.bin", value)) {
    fprintf(stderr, "cannot read inputs\n");
    return 1;
  }

  float *d_left, *d_right, *d_value, *d_product;
  int *d_row, *d_col;
  checkCuda(cudaMalloc(&d_left, kRows * kRank * sizeof(float)), "device memory for left");
  checkCuda(cudaMemcpy(d_left, left.data(), kRows * kRank * sizeof(float), cudaMemcpyHostToDevice),
      "copy left");
  checkCuda(cudaMalloc(&d_right, kCols * kRank * sizeof(float)), "device memory for right");
  checkCuda(cudaMemcpy(d_right, right.data(), kCols * kRank * sizeof(float), cudaMemcpyHostToDevice),
      "copy right");
  checkCuda(cudaMalloc(&d_row, kEntries * sizeof(int)), "device memory for row");
  checkCuda(cudaMemcpy(d_row, row.data(), kEntries * sizeof(int), cudaMemcpyHostToDevice), "copy row");
  checkCuda(cudaMalloc(&d_col, kEntries * sizeof(int)), "device memory for col");
  checkCuda(cudaMemcpy(d_col, col.data(), kEntries * sizeof(int), cudaMemcpyHostToDevice), "copy col");
  checkCuda(cudaMalloc(&d_value, kEntries * sizeof(float)), "device memory for value");
  checkCuda(cudaMemcpy(d_value, value.data(), kEntries * sizeof(float), cudaMemcpyHostToDevice),
      "copy value");
  checkCuda(cudaMalloc(&d_product, kEntries * sizeof(float)), "device memory for product");

  sampled_product<<<(kEntries + 255) / 256, 256>>>(d_left, d_right, d_row, d_col, d_value, d_product);
  checkCuda(cudaGetLastError(), "kernel launch");
  checkCuda(cudaDeviceSynchronize(), "run");
  checkCuda(cudaMemcpy(product.data(), d_product, kEntries * sizeof(float), cudaMemcpyDeviceToHost),
      "copy product back");

  cudaFree(d_left);
  cudaFree(d_right);
  cudaFree(d_row);
  cudaFree(d_col);
  cudaFree(d_value);
  cudaFree(d_product);

  if (!write_all("data/product.bin", product)) return 1;
}
