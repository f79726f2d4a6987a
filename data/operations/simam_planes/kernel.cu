#include <cstdio>
#include <cstdlib>
#include <vector>
#include <cuda_runtime.h>

template <typename T>
struct GpuBuffer {
  T* ptr = nullptr;
  size_t count = 0;
  explicit GpuBuffer(size_t n) : count(n) {
    if (cudaMalloc(&ptr, n * sizeof(T)) != cudaSuccess) exit(1);
  }
  ~GpuBuffer() { cudaFree(ptr); }
  GpuBuffer(const GpuBuffer&) = delete;
  GpuBuffer& operator=(const GpuBuffer&) = delete;
};

void load(const char* path, std::vector<float>& v) {
  FILE* f = fopen(path, "rb");
  if (!f || fread(v.data(), sizeof(float), v.size(), f) != v.size()) {
    fprintf(stderr, "cannot read %s\n", path);
    exit(1);
  }
  fclose(f);
}

constexpr int kBatch = 2;
constexpr int kChannels = 8;
constexpr int kPlane = 784;
constexpr int WARPS = 4;

// One warp per plane: sums by shuffles, no shared memory and no barriers.
__device__ float warp_sum(float v) {
  for (int o = 16; o > 0; o >>= 1) v += __shfl_xor_sync(0xffffffffu, v, o);
  return v;
}

__global__ void energy_gate_warp(const float* __restrict__ x, float* __restrict__ y) {
  const int lane = threadIdx.x & 31;
  const int row = blockIdx.x * WARPS + (threadIdx.x >> 5);
  if (row >= kBatch * kChannels) return;
  const float* in = x + (size_t)row * kPlane;
  float* out = y + (size_t)row * kPlane;
  float sum = 0.0f;
  for (int i = lane; i < kPlane; i += 32) sum += in[i];
  const float mean = warp_sum(sum) * (1.0f / kPlane);
  float squares = 0.0f;
  for (int i = lane; i < kPlane; i += 32) squares = fmaf(in[i] - mean, in[i] - mean, squares);
  const float scale = 0.25f / (warp_sum(squares) / (kPlane - 1) + 1e-4f);
  for (int i = lane; i < kPlane; i += 32) {
    const float d = in[i] - mean;
    out[i] = in[i] / (1.0f + __expf(-fmaf(d * d, scale, 0.5f)));
  }
}

int main() {
  const int count = kBatch * kChannels * kPlane;
  const size_t bytes = count * sizeof(float);
  std::vector<float> host_x(count);
  std::vector<float> host_y(count);
  load("data/x.bin", host_x);

  GpuBuffer<float> dev_x(count);
  GpuBuffer<float> dev_y(count);
  cudaMemcpy(dev_x.ptr, host_x.data(), bytes, cudaMemcpyHostToDevice);
  energy_gate_warp<<<(kBatch * kChannels + WARPS - 1) / WARPS, WARPS * 32>>>(dev_x.ptr, dev_y.ptr);
  if (cudaDeviceSynchronize() != cudaSuccess) {
    fprintf(stderr, "kernel failed\n");
    return 1;
  }

  cudaMemcpy(host_y.data(), dev_y.ptr, bytes, cudaMemcpyDeviceToHost);
  FILE* out = fopen("data/y.bin", "wb");
  if (!out || fwrite(host_y.data(), sizeof(float), host_y.size(), out) != host_y.size()) return 1;
  fclose(out);
  return 0;
}
