#include <cuda_runtime.h>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <vector>

template <typename T>
struct DeviceBuffer {
  T* p = nullptr;
  explicit DeviceBuffer(size_t count) {
    if (cudaMalloc(&p, count * sizeof(T)) != cudaSuccess) { fprintf(stderr, "cudaMalloc failed\n"); exit(1); }
  }
  ~DeviceBuffer() { cudaFree(p); }
  DeviceBuffer(const DeviceBuffer&) = delete;
  DeviceBuffer& operator=(const DeviceBuffer&) = delete;
};

constexpr int kRows = 64;
constexpr int kCols = 300;
constexpr int kBlock = 128;

__device__ void merge(float& m, float& s, float m2, float s2, float inv) {
  float top = fmaxf(m, m2);
  s = s * expf((m - top) * inv) + s2 * expf((m2 - top) * inv);
  m = top;
}

// One pass: every thread keeps a running maximum and the sum relative to it.
__global__ void log_mean_exp_online(const float* __restrict__ x, const float* __restrict__ tau,
    float* __restrict__ lme) {
  __shared__ float ms[kBlock / 32], ss[kBlock / 32];
  const float* row = x + (size_t)blockIdx.x * kCols;
  float inv = 1.0f / tau[blockIdx.x];
  float m = -1e30f, sum = 0.0f;
  for (int c = threadIdx.x; c < kCols; c += kBlock) {
    float v = row[c];
    if (v > m) {
      sum = sum * expf((m - v) * inv) + 1.0f;
      m = v;
    } else {
      sum += expf((v - m) * inv);
    }
  }
  for (int d = 16; d > 0; d /= 2) {
    float m2 = __shfl_down_sync(0xffffffffu, m, d);
    float s2 = __shfl_down_sync(0xffffffffu, sum, d);
    merge(m, sum, m2, s2, inv);
  }
  if (threadIdx.x % 32 == 0) {
    ms[threadIdx.x / 32] = m;
    ss[threadIdx.x / 32] = sum;
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    for (int k = 1; k < kBlock / 32; ++k) merge(m, sum, ms[k], ss[k], inv);
    lme[blockIdx.x] = m + tau[blockIdx.x] * logf(sum / kCols);
  }
}

int main() {
  std::vector<float> h_x(kRows * kCols);
  std::vector<float> h_tau(kRows);
  std::vector<float> h_lme(kRows);
  std::ifstream xIn("data/x.bin", std::ios::binary);
  if (!xIn.read(reinterpret_cast<char*>(h_x.data()), kRows * kCols * sizeof(float)))
      { fprintf(stderr, "cannot read data/x.bin\n"); exit(1); }
  std::ifstream tauIn("data/tau.bin", std::ios::binary);
  if (!tauIn.read(reinterpret_cast<char*>(h_tau.data()), kRows * sizeof(float)))
      { fprintf(stderr, "cannot read data/tau.bin\n"); exit(1); }

  DeviceBuffer<float> gpu_x(kRows * kCols);
  DeviceBuffer<float> gpu_tau(kRows);
  DeviceBuffer<float> gpu_lme(kRows);
  cudaMemcpy(gpu_x.p, h_x.data(), kRows * kCols * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemcpy(gpu_tau.p, h_tau.data(), kRows * sizeof(float), cudaMemcpyHostToDevice);

  log_mean_exp_online<<<kRows, kBlock>>>(gpu_x.p, gpu_tau.p, gpu_lme.p);
  if (cudaGetLastError() != cudaSuccess) { fprintf(stderr, "launch failed\n"); exit(1); }
  cudaMemcpy(h_lme.data(), gpu_lme.p, kRows * sizeof(float), cudaMemcpyDeviceToHost);

  std::ofstream("data/lme.bin", std::ios::binary)
      .write(reinterpret_cast<const char*>(h_lme.data()), kRows * sizeof(float));
  return 0;
}
