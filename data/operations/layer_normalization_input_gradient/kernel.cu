#include <fstream>
#include <iostream>
#include <stdexcept>
#include <string>
#include <vector>
#include <cuda_runtime.h>

constexpr int kRows = 24;
constexpr int kWidth = 300;

template <typename T>
struct DevArray {
  T* ptr = nullptr;
  size_t count;
  explicit DevArray(size_t n) : count(n) {
    if (cudaMalloc(&ptr, n * sizeof(T)) != cudaSuccess) throw std::runtime_error("out of device memory");
  }
  ~DevArray() { cudaFree(ptr); }
  DevArray(const DevArray&) = delete;
  DevArray& operator=(const DevArray&) = delete;
  void upload(const std::vector<T>& v) { cudaMemcpy(ptr, v.data(), count * sizeof(T), cudaMemcpyHostToDevice); }
  void download(std::vector<T>& v) const { cudaMemcpy(v.data(), ptr, count * sizeof(T), cudaMemcpyDeviceToHost); }
};

template <typename T>
std::vector<T> read(const std::string& path, size_t count) {
  std::vector<T> v(count);
  std::ifstream in(path, std::ios::binary);
  if (!in.read(reinterpret_cast<char*>(v.data()), count * sizeof(T)))
    throw std::runtime_error(std::string("cannot read ") + path);
  return v;
}

constexpr int kWarps = 4;

__device__ __forceinline__ float all_lanes_sum(float v) {
  for (int offset = 16; offset > 0; offset /= 2) v += __shfl_xor_sync(0xffffffffu, v, offset);
  return v;
}

// One warp a row; no shared memory and no block barrier.
__global__ void backward_warp(const float* __restrict__ x, const float* __restrict__ gamma,
                              const float* __restrict__ dy, float* __restrict__ dx) {
  const int row = blockIdx.x * kWarps + threadIdx.x / 32, lane = threadIdx.x % 32;
  if (row >= kRows) return;
  const float* xr = x + (size_t)row * kWidth;
  const float* gr = dy + (size_t)row * kWidth;
  float sum = 0.0f, sg = 0.0f;
  for (int j = lane; j < kWidth; j += 32) {
    sum += xr[j];
    sg = fmaf(gamma[j], gr[j], sg);
  }
  const float mean = all_lanes_sum(sum) / kWidth;
  const float a = all_lanes_sum(sg) / kWidth;
  float sq = 0.0f, cross = 0.0f;
  for (int j = lane; j < kWidth; j += 32) {
    float d = xr[j] - mean;
    sq = fmaf(d, d, sq);
    cross = fmaf(d, gamma[j] * gr[j] - a, cross);
  }
  const float s = rsqrtf(all_lanes_sum(sq) / kWidth + 1e-5f);
  const float slope = all_lanes_sum(cross) / kWidth * s * s;
  for (int j = lane; j < kWidth; j += 32)
    dx[(size_t)row * kWidth + j] = s * (gamma[j] * gr[j] - a - (xr[j] - mean) * slope);
}

int main() {
  const size_t x_count = kRows * kWidth;
  std::vector<float> x = read<float>("data/x.bin", x_count);
  std::vector<float> gamma = read<float>("data/gamma.bin", kWidth);
  std::vector<float> dy = read<float>("data/dy.bin", x_count);
  std::vector<float> dx(x_count);

  DevArray<float> dev_x(x_count);
  DevArray<float> dev_gamma(kWidth);
  DevArray<float> dev_dy(x_count);
  DevArray<float> dev_dx(x_count);
  dev_x.upload(x);
  dev_gamma.upload(gamma);
  dev_dy.upload(dy);

  backward_warp<<<(kRows + kWarps - 1) / kWarps, 32 * kWarps>>>(dev_x.ptr, dev_gamma.ptr, dev_dy.ptr, dev_dx.ptr);
  if (cudaDeviceSynchronize() != cudaSuccess) throw std::runtime_error("CUDA error");

  dev_dx.download(dx);
  std::ofstream("data/dx.bin", std::ios::binary)
    .write(reinterpret_cast<const char*>(dx.data()), x_count * sizeof(float));
  return 0;
}
