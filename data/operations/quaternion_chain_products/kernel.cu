#include <cstdio>
#include <cstdlib>
#include <vector>
#include <cuda_runtime.h>

constexpr int CHAINS = 200;
constexpr int LENGTH = 32;
const int WARPS = 4;

template <typename T>
struct GpuArray {
  T* data = nullptr;
  explicit GpuArray(size_t count) {
    if (cudaMalloc(&data, count * sizeof(T)) != cudaSuccess) {
      fprintf(stderr, "out of device memory\n");
      exit(1);
    }
  }
  ~GpuArray() { cudaFree(data); }
  GpuArray(const GpuArray&) = delete;
  GpuArray& operator=(const GpuArray&) = delete;
};

template <typename T>
void read_into(const char* path, std::vector<T>& v) {
  FILE* f = fopen(path, "rb");
  if (!f || fread(v.data(), sizeof(T), v.size(), f) != v.size()) {
    fprintf(stderr, "cannot read %s\n", path);
    exit(1);
  }
  fclose(f);
}

__device__ float4 hamilton(float4 a, float4 b) {
  return make_float4(a.x * b.x - a.y * b.y - a.z * b.z - a.w * b.w,
                       a.x * b.y + a.y * b.x + a.z * b.w - a.w * b.z,
                       a.x * b.z + a.z * b.x + a.w * b.y - a.y * b.w,
                       a.x * b.w + a.w * b.x + a.y * b.z - a.z * b.y);
}

// A warp multiplies one chain: each lane a contiguous piece, then neighbours are joined in order.
__global__ void warp_chain_product(const float4* __restrict__ links, float4* __restrict__ product) {
  int chain = blockIdx.x * WARPS + threadIdx.x / 32;
  if (chain >= CHAINS) return;
  int lane = threadIdx.x % 32;
  const int piece = (LENGTH + 31) / 32;
  const float4* q = links + (size_t)chain * LENGTH;
  float4 r = make_float4(1.0f, 0.0f, 0.0f, 0.0f);
  int end = min((lane + 1) * piece, LENGTH);
  for (int k = lane * piece; k < end; ++k) r = hamilton(r, q[k]);
  for (int step = 1; step < 32; step *= 2) {
    float4 next;
    next.x = __shfl_down_sync(0xffffffffu, r.x, step);
    next.y = __shfl_down_sync(0xffffffffu, r.y, step);
    next.z = __shfl_down_sync(0xffffffffu, r.z, step);
    next.w = __shfl_down_sync(0xffffffffu, r.w, step);
    if (lane % (2 * step) == 0) r = hamilton(r, next);
  }
  if (lane == 0) {
    float inv = 1.0f / sqrtf(r.x * r.x + r.y * r.y + r.z * r.z + r.w * r.w);
    product[chain] = make_float4(r.x * inv, r.y * inv, r.z * inv, r.w * inv);
  }
}

int main() {
  std::vector<float> h_links(CHAINS * LENGTH * 4);
  std::vector<float> h_product(CHAINS * 4);
  read_into("data/links.bin", h_links);

  GpuArray<float> links(CHAINS * LENGTH * 4);
  GpuArray<float> product(CHAINS * 4);
  cudaMemcpy(links.data, h_links.data(), CHAINS * LENGTH * 4 * sizeof(float), cudaMemcpyHostToDevice);

  warp_chain_product<<<(CHAINS + WARPS - 1) / WARPS, WARPS * 32>>>((const float4*)links.data, (float4*)product.data);
  if (cudaGetLastError() != cudaSuccess) {
    fprintf(stderr, "kernel launch failed\n");
    return 1;
  }

  cudaMemcpy(h_product.data(), product.data, CHAINS * 4 * sizeof(float), cudaMemcpyDeviceToHost);
  FILE* out = fopen("data/product.bin", "wb");
  if (!out) return 1;
  fwrite(h_product.data(), sizeof(float), h_product.size(), out);
  fclose(out);
  return 0;
}
