#include <cuda_runtime.h>
#include <cstdio>

const int N = 3000;

__global__ void slerp(const float* a, const float* b, const float* t, float* c, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float dot = 0.0f;
  for (int k = 0; k < 3; ++k) dot += a[3 * i + k] * b[3 * i + k];
  float theta = acosf(fminf(fmaxf(dot, -1.0f), 1.0f));
  float u = sinf((1.0f - t[i]) * theta) / sinf(theta);
  float v = sinf(t[i] * theta) / sinf(theta);
  for (int k = 0; k < 3; ++k) c[3 * i + k] = u * a[3 * i + k] + v * b[3 * i + k];
}

static bool read_into(const char* path, void* p, size_t bytes) {
  FILE* f = fopen(path, "rb");
  if (!f) return false;
  size_t got = fread(p, 1, bytes, f);
  fclose(f);
  return got == bytes;
}

int main() {
  const size_t numel = N * 3;
  float *a, *b, *t, *c;
  cudaMallocManaged(&a, numel * sizeof(float));
  cudaMallocManaged(&b, numel * sizeof(float));
  cudaMallocManaged(&t, N * sizeof(float));
  cudaMallocManaged(&c, numel * sizeof(float));
  if (!read_into("data/a.bin", a, numel * sizeof(float))) {
    fprintf(stderr, "cannot read data/a.bin\n");
    return 1;
  }
  if (!read_into("data/b.bin", b, numel * sizeof(float))) {
    fprintf(stderr, "cannot read data/b.bin\n");
    return 1;
  }
  if (!read_into("data/t.bin", t, N * sizeof(float))) {
    fprintf(stderr, "cannot read data/t.bin\n");
    return 1;
  }

  const int block = 128;
  slerp<<<(N + block - 1) / block, block>>>(a, b, t, c, N);
  cudaDeviceSynchronize();

  FILE* out_file = fopen("data/c.bin", "wb");
  fwrite(c, sizeof(float), numel, out_file);
  fclose(out_file);

  cudaFree(a);
  cudaFree(b);
  cudaFree(t);
  cudaFree(c);
  return 0;
}
