#include <cstdlib>
#include <string>
#include <fstream>
#include <iostream>
#include <cuda_runtime.h>

template <typename T>
void load_array(const std::string& filename, T* buf, size_t num) {
  std::ifstream in(filename, std::ios::binary);
  if (!in) {
    std::cerr << "no such file: " << filename << std::endl;
    exit(1);
  }
  in.read(reinterpret_cast<char*>(buf), num * sizeof(T));
}

template <typename T>
void save_array(const std::string& filename, const T* buf, size_t num) {
  std::ofstream file(filename, std::ios::binary);
  file.write(reinterpret_cast<const char*>(buf), num * sizeof(T));
}
//@given

constexpr int N = 800;
constexpr int ENTRIES = 6000;
constexpr int RUN = 8;

// A thread takes a run of neighbouring entries and sums those of one row before the atomic addition.
__global__ void symmetric_runs(const int* __restrict__ row, const int* __restrict__ col,
                               const float* __restrict__ value, const float* __restrict__ x, float* y) {
  int first = (blockIdx.x * blockDim.x + threadIdx.x) * RUN;
  if (first >= ENTRIES) return;
  int last = min(first + RUN, ENTRIES);
  int current = row[first];
  float sum = 0.0f, own = x[current];
  for (int k = first; k < last; ++k) {
    int r = row[k], c = col[k];
    if (r != current) {
      atomicAdd(y + current, sum);
      current = r;
      sum = 0.0f;
      own = x[r];
    }
    sum += value[k] * x[c];
    if (c != r) atomicAdd(y + c, value[k] * own);
  }
  atomicAdd(y + current, sum);
}

int main() {
  int* h_row = new int[ENTRIES];
  int* h_col = new int[ENTRIES];
  float* h_value = new float[ENTRIES];
  float* h_x = new float[N];
  float* h_y = new float[N];
  load_array("data/row.bin", h_row, ENTRIES);
  load_array("data/col.bin", h_col, ENTRIES);
  load_array("data/value.bin", h_value, ENTRIES);
  load_array("data/x.bin", h_x, N);

  int *d_row, *d_col;
  float *d_value, *d_x, *d_y;
  cudaMalloc(&d_row, ENTRIES * sizeof(int));
  cudaMemcpy(d_row, h_row, ENTRIES * sizeof(int), cudaMemcpyHostToDevice);
  cudaMalloc(&d_col, ENTRIES * sizeof(int));
  cudaMemcpy(d_col, h_col, ENTRIES * sizeof(int), cudaMemcpyHostToDevice);
  cudaMalloc(&d_value, ENTRIES * sizeof(float));
  cudaMemcpy(d_value, h_value, ENTRIES * sizeof(float), cudaMemcpyHostToDevice);
  cudaMalloc(&d_x, N * sizeof(float));
  cudaMemcpy(d_x, h_x, N * sizeof(float), cudaMemcpyHostToDevice);
  cudaMalloc(&d_y, N * sizeof(float));

  cudaMemset(d_y, 0, N * sizeof(float));
  int runs = (ENTRIES + RUN - 1) / RUN;
  symmetric_runs<<<(runs + 127) / 128, 128>>>(d_row, d_col, d_value, d_x, d_y);
  cudaMemcpy(h_y, d_y, N * sizeof(float), cudaMemcpyDeviceToHost);

  save_array("data/y.bin", h_y, N);

  cudaFree(d_row);
  cudaFree(d_col);
  cudaFree(d_value);
  cudaFree(d_x);
  cudaFree(d_y);
  delete[] h_row;
  delete[] h_col;
  delete[] h_value;
  delete[] h_x;
  delete[] h_y;
}
