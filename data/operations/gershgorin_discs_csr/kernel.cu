#include <cuda_runtime.h>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

constexpr int kN = 900;
constexpr int kEntries = 7000;
constexpr int kBlock = 128;
constexpr int kChunk = 1024;

template <typename T>
struct GpuArray {
  T* data = nullptr;
  explicit GpuArray(size_t n) {
    if (cudaMalloc(&data, n * sizeof(T)) != cudaSuccess) throw std::runtime_error("cudaMalloc failed");
  }
  ~GpuArray() { cudaFree(data); }
  GpuArray(const GpuArray&) = delete;
  GpuArray& operator=(const GpuArray&) = delete;
};

template <typename T>
std::vector<T> read_input(const std::string& path, size_t n) {
  std::vector<T> v(n);
  std::ifstream in(path, std::ios::binary);
  if (!in.read(reinterpret_cast<char*>(v.data()),
      n * sizeof(T))) throw std::runtime_error("cannot read " + path);
  return v;
}

// A block owns 128 rows, whose entries are contiguous: they are read in order, chunk by chunk, into shared memory.
__global__ void discs_streamed(const int* __restrict__ row_start, const int* __restrict__ col,
                               const float* __restrict__ value, float2* __restrict__ disc,
                                       int* __restrict__ dominant) {
  __shared__ int c[kChunk];
  __shared__ float v[kChunk];
  const int first_row = blockIdx.x * kBlock;
  const int last_row = min(first_row + kBlock, kN);
  const int i = first_row + threadIdx.x;
  const int begin = i < kN ? row_start[i] : 0, end = i < kN ? row_start[i + 1] : 0;
  const int all_end = row_start[last_row];
  float center = 0.0f, radius = 0.0f;
  for (int base = row_start[first_row]; base < all_end; base += kChunk) {
    for (int k = threadIdx.x; k < kChunk && base + k < all_end; k += kBlock) {
      c[k] = col[base + k];
      v[k] = value[base + k];
    }
    __syncthreads();
    int stop = min(end - base, kChunk);
    for (int k = max(begin - base, 0); k < stop; ++k) {
      if (c[k] == i) center += v[k];
      else radius += fabsf(v[k]);
    }
    __syncthreads();
  }
  if (i < kN) {
    disc[i] = make_float2(center, radius);
    dominant[i] = fabsf(center) > radius;
  }
}

int main() {
  std::vector<int> host_row_start = read_input<int>("data/row_start.bin", kN + 1);
  std::vector<int> host_col = read_input<int>("data/col.bin", kEntries);
  std::vector<float> host_value = read_input<float>("data/value.bin", kEntries);
  std::vector<float> host_disc(kN * 2);
  std::vector<int> host_dominant(kN);

  GpuArray<int> row_start(kN + 1);
  GpuArray<int> col(kEntries);
  GpuArray<float> value(kEntries);
  GpuArray<float> disc(kN * 2);
  GpuArray<int> dominant(kN);
  cudaMemcpy(row_start.data, host_row_start.data(), (kN + 1) * sizeof(int), cudaMemcpyHostToDevice);
  cudaMemcpy(col.data, host_col.data(), kEntries * sizeof(int), cudaMemcpyHostToDevice);
  cudaMemcpy(value.data, host_value.data(), kEntries * sizeof(float), cudaMemcpyHostToDevice);

  discs_streamed<<<(kN + kBlock - 1) / kBlock, kBlock>>>(row_start.data, col.data, value.data,
      (float2*)disc.data, dominant.data);
  if (cudaDeviceSynchronize() != cudaSuccess) throw std::runtime_error("kernel failed");
  cudaMemcpy(host_disc.data(), disc.data, kN * 2 * sizeof(float), cudaMemcpyDeviceToHost);
  cudaMemcpy(host_dominant.data(), dominant.data, kN * sizeof(int), cudaMemcpyDeviceToHost);

  std::ofstream("data/disc.bin", std::ios::binary).write(reinterpret_cast<const char*>(host_disc.data()),
      kN * 2 * sizeof(float));
  std::ofstream("data/dominant.bin",
      std::ios::binary).write(reinterpret_cast<const char*>(host_dominant.data()), kN * sizeof(int));
  return 0;
}
