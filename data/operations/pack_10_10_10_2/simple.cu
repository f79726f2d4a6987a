#include <cstdio>
#include <cstdint>
#include <cuda_runtime.h>

#define N 5000

__global__ void pack_vectors(const float* v, uint32_t* packed, float* lost, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    uint32_t word = 0;
    float worst = 0.0f;
    for (int k = 0; k < 3; ++k) {
      float c = fminf(fmaxf(v[4 * i + k], 0.0f), 1.0f);
      float q = rintf(1023.0f * c);
      word |= (uint32_t)q << (10 * k);
      worst = fmaxf(worst, fabsf(c - q / 1023.0f));
    }
    float w = fminf(fmaxf(v[4 * i + 3], 0.0f), 1.0f);
    word |= (uint32_t)rintf(3.0f * w) << 30;
    packed[i] = word;
    lost[i] = worst;
  }
}

static bool readAll(const char* path, void* p, size_t bytes) {
  FILE* f = fopen(path, "rb");
  if (!f) return false;
  size_t got = fread(p, 1, bytes, f);
  fclose(f);
  return got == bytes;
}

int main(void) {
  const int v_size = N * 4;
  float *v, *lost;
  uint32_t* packed;
  cudaMallocManaged(&v, v_size * sizeof(float));
  cudaMallocManaged(&packed, N * sizeof(uint32_t));
  cudaMallocManaged(&lost, N * sizeof(float));

  if (!readAll("data/v.bin", v, v_size * sizeof(float))) {
    fprintf(stderr, "cannot read data/v.bin\n");
    return 1;
  }

  pack_vectors<<<(N + 256 - 1) / 256, 256>>>(v, packed, lost, N);
  cudaError_t err = cudaDeviceSynchronize();
  if (err != cudaSuccess) {
    fprintf(stderr, "%s\n", cudaGetErrorString(err));
    return 1;
  }
  FILE* out_packed = fopen("data/packed.bin", "wb");
  fwrite(packed, sizeof(uint32_t), N, out_packed);
  fclose(out_packed);
  FILE* out_lost = fopen("data/lost.bin", "wb");
  fwrite(lost, sizeof(float), N, out_lost);
  fclose(out_lost);

  cudaFree(v);
  cudaFree(packed);
  cudaFree(lost);
  return 0;
}
