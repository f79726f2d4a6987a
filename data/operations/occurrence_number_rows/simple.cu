#include <cstdio>
#include <cstdlib>
#include <string>
#include <cuda_runtime.h>

void load_values(const std::string& path, void* dst, size_t bytes) {
  FILE* f = fopen(path.c_str(), "rb");
  if (f == nullptr || fread(dst, 1, bytes, f) != bytes) {
    fprintf(stderr, "cannot read %s\n", path.c_str());
    exit(1);
  }
  fclose(f);
}

void store_values(const std::string& path, const void* dst, size_t bytes) {
  FILE* f = fopen(path.c_str(), "wb");
  if (f == nullptr || fwrite(dst, 1, bytes, f) != bytes) {
    fprintf(stderr, "cannot write %s\n", path.c_str());
    exit(1);
  }
  fclose(f);
}
//@given

#define CEIL_DIV(a, b) (((a) + (b) - 1) / (b))

constexpr int kRows = 60;
constexpr int kCols = 300;

__global__ void occurrence_number(const unsigned char* code, int* number) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= kRows) return;
  int count[16];
  for (int k = 0; k < 16; ++k) count[k] = 0;
  for (int c = 0; c < kCols; ++c) {
    size_t i = (size_t)r * kCols + c;
    int k = code[i];
    number[i] = count[k];
    ++count[k];
  }
}

int main() {
  unsigned char* host_code = new unsigned char[kRows * kCols];
  load_values("data/code.bin", host_code, kRows * kCols * sizeof(unsigned char));
  int* host_number = new int[kRows * kCols];

  unsigned char* dev_code = nullptr;
  int* dev_number;
  cudaMalloc(&dev_code, kRows * kCols * sizeof(unsigned char));
  cudaMalloc(&dev_number, kRows * kCols * sizeof(int));
  cudaMemcpy(dev_code, host_code, kRows * kCols * sizeof(unsigned char), cudaMemcpyHostToDevice);

  occurrence_number<<<CEIL_DIV(kRows, 32), 32>>>(dev_code, dev_number);
  cudaError_t err = cudaDeviceSynchronize();
  if (err != cudaSuccess) {
    fprintf(stderr, "%s\n", cudaGetErrorString(err));
    return 1;
  }

  cudaMemcpy(host_number, dev_number, kRows * kCols * sizeof(int), cudaMemcpyDeviceToHost);
  store_values("data/number.bin", host_number, kRows * kCols * sizeof(int));

  cudaFree(dev_code);
  cudaFree(dev_number);
  delete[] host_code;
  delete[] host_number;
  return 0;
}
