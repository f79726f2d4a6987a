#include <cstdio>
#include <cstdlib>
#include <cstdint>
#include <cuda_runtime.h>

void read_bytes(const char* path, void* data, size_t bytes) {
  FILE* f = fopen(path, "rb");
  if (!f || fread(data, 1, bytes, f) != bytes) {
    fprintf(stderr, "cannot read %s\n", path);
    exit(1);
  }
  fclose(f);
}

void write_bytes(const char* path, const void* data, size_t bytes) {
  FILE* f = fopen(path, "wb");
  if (!f || fwrite(data, 1, bytes, f) != bytes) {
    fprintf(stderr, "cannot write %s\n", path);
    exit(1);
  }
  fclose(f);
}
//@given

#define CEIL_DIV(a, b) (((a) + (b) - 1) / (b))

constexpr int N = 5000;

__device__ uint32_t quantise(float c, float* worst) {
  c = __saturatef(c);
  const uint32_t q = __float2uint_rn(c * 1023.0f);
  *worst = fmaxf(*worst, fabsf(c - q / 1023.0f));
  return q;
}

// One float4 per vector.
__global__ void pack_float4(const float4* __restrict__ v, uint32_t* __restrict__ packed, float* __restrict__ lost,
                            int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    const float4 p = v[i];
    float worst = 0.0f;
    const uint32_t x = quantise(p.x, &worst), y = quantise(p.y, &worst), z = quantise(p.z, &worst);
    const uint32_t w = __float2uint_rn(3.0f * __saturatef(p.w));
    packed[i] = x | (y << 10) | (z << 20) | (w << 30);
    lost[i] = worst;
  }
}

int main(void) {
  const size_t v_size = N * 4;
  float* v = new float[v_size];
  uint32_t* packed = new uint32_t[N];
  float* lost = new float[N];
  read_bytes("data/v.bin", v, v_size * sizeof(float));

  float *d_v, *d_lost;
  uint32_t* d_packed;
  cudaMalloc(&d_v, v_size * sizeof(float));
  cudaMemcpy(d_v, v, v_size * sizeof(float), cudaMemcpyHostToDevice);
  cudaMalloc(&d_packed, N * sizeof(uint32_t));
  cudaMalloc(&d_lost, N * sizeof(float));

  const int blocks = min(CEIL_DIV(N, 128), 2048);
  pack_float4<<<blocks, 128>>>(reinterpret_cast<const float4*>(d_v), d_packed, d_lost, N);
  cudaDeviceSynchronize();

  cudaMemcpy(packed, d_packed, N * sizeof(uint32_t), cudaMemcpyDeviceToHost);
  cudaMemcpy(lost, d_lost, N * sizeof(float), cudaMemcpyDeviceToHost);
  write_bytes("data/packed.bin", packed, N * sizeof(uint32_t));
  write_bytes("data/lost.bin", lost, N * sizeof(float));

  cudaFree(d_v);
  cudaFree(d_packed);
  cudaFree(d_lost);
  delete[] v;
  delete[] packed;
  delete[] lost;
  return 0;
}
