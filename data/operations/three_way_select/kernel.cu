#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

void fetch(const char* path, void* data, size_t bytes) {
  FILE* f = fopen(path, "rb");
  if (!f || fread(data, 1, bytes, f) != bytes) {
    fprintf(stderr, "cannot read %s\n", path);
    exit(1);
  }
  fclose(f);
}

void put(const char* path, const void* data, size_t bytes) {
  FILE* f = fopen(path, "wb");
  if (!f || fwrite(data, 1, bytes, f) != bytes) {
    fprintf(stderr, "cannot write %s\n", path);
    exit(1);
  }
  fclose(f);
}
//@given

constexpr int ceil_div(int a, int b) { return (a + b - 1) / b; }

constexpr int kN = 10000;

// Everything is computed and chosen without branches, two elements a thread.
__device__ float choose(int k, float x, float y, float z) {
  const float median = fmaxf(fminf(x, y), fminf(fmaxf(x, y), z));
  float r = copysignf(x, y);
  r = k == 0 ? x : r;
  r = k == 1 ? y : r;
  r = k == 2 ? z : r;
  r = k == 3 ? median : r;
  return k == 4 ? (x + y + z) * (1.0f / 3.0f) : r;
}

__global__ void select_pairs(const int* __restrict__ code, const float* __restrict__ a, const float* __restrict__ b,
                             const float* __restrict__ c, float* __restrict__ picked, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (2 * i + 1 < n) {
    const int2 k = reinterpret_cast<const int2*>(code)[i];
    const float2 x = reinterpret_cast<const float2*>(a)[i];
    const float2 y = reinterpret_cast<const float2*>(b)[i];
    const float2 z = reinterpret_cast<const float2*>(c)[i];
    reinterpret_cast<float2*>(picked)[i] = make_float2(choose(k.x, x.x, y.x, z.x), choose(k.y, x.y, y.y, z.y));
  } else if (2 * i < n) {
    picked[2 * i] = choose(code[2 * i], a[2 * i], b[2 * i], c[2 * i]);
  }
}

int main(void) {
  int* host_code = new int[kN];
  float* host_a = new float[kN];
  float* host_b = new float[kN];
  float* host_c = new float[kN];
  float* host_picked = new float[kN];
  fetch("data/code.bin", host_code, kN * sizeof(int));
  fetch("data/a.bin", host_a, kN * sizeof(float));
  fetch("data/b.bin", host_b, kN * sizeof(float));
  fetch("data/c.bin", host_c, kN * sizeof(float));

  int* dev_code = nullptr;
  float *dev_a = nullptr, *dev_b = nullptr, *dev_c = nullptr, *dev_picked = nullptr;
  cudaMalloc(&dev_code, kN * sizeof(int));
  cudaMalloc(&dev_a, kN * sizeof(float));
  cudaMalloc(&dev_b, kN * sizeof(float));
  cudaMalloc(&dev_c, kN * sizeof(float));
  cudaMalloc(&dev_picked, kN * sizeof(float));
  cudaMemcpy(dev_code, host_code, kN * sizeof(int), cudaMemcpyHostToDevice);
  cudaMemcpy(dev_a, host_a, kN * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemcpy(dev_b, host_b, kN * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemcpy(dev_c, host_c, kN * sizeof(float), cudaMemcpyHostToDevice);

  const int pairs = ceil_div(kN, 2);
  select_pairs<<<ceil_div(pairs, 256), 256>>>(dev_code, dev_a, dev_b, dev_c, dev_picked, kN);
  cudaDeviceSynchronize();
  cudaMemcpy(host_picked, dev_picked, kN * sizeof(float), cudaMemcpyDeviceToHost);
  put("data/picked.bin", host_picked, kN * sizeof(float));

  cudaFree(dev_code);
  cudaFree(dev_a);
  cudaFree(dev_b);
  cudaFree(dev_c);
  cudaFree(dev_picked);
  delete[] host_code;
  delete[] host_a;
  delete[] host_b;
  delete[] host_c;
  delete[] host_picked;
  return 0;
}
