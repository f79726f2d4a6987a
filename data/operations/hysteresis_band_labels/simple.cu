#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

void loadTensor(const char* path, void* data, size_t bytes) {
  FILE* f = fopen(path, "rb");
  if (!f || fread(data, 1, bytes, f) != bytes) {
    fprintf(stderr, "cannot read %s\n", path);
    exit(1);
  }
  fclose(f);
}

void saveTensor(const char* path, const void* data, size_t bytes) {
  FILE* f = fopen(path, "wb");
  if (!f || fwrite(data, 1, bytes, f) != bytes) {
    fprintf(stderr, "cannot write %s\n", path);
    exit(1);
  }
  fclose(f);
}
//@given

const int HEIGHT = 60;
const int WIDTH = 90;

static int div_up(int a, int b) { return (a + b - 1) / b; }

__global__ void label_pixels(const float* strength, unsigned char* label, int* kept) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= WIDTH || y >= HEIGHT) return;
  float v = strength[y * WIDTH + x];
  int result = 0;
  if (v >= 0.75f) {
    result = 2;
  } else if (v >= 0.375f) {
    for (int yy = max(y - 1, 0); yy <= min(y + 1, HEIGHT - 1); ++yy) {
      for (int xx = max(x - 1, 0); xx <= min(x + 1, WIDTH - 1); ++xx) {
        if (strength[yy * WIDTH + xx] >= 0.75f) result = 1;
      }
    }
  }
  label[y * WIDTH + x] = (unsigned char)result;
  if (result > 0) atomicAdd(&kept[y], 1);
}

int main() {
  const size_t numel = HEIGHT * WIDTH;
  const size_t bytes_strength = numel * sizeof(float);
  const size_t bytes_label = numel * sizeof(unsigned char);
  const size_t bytes_kept = HEIGHT * sizeof(int);
  float* h_strength = (float*)malloc(bytes_strength);
  unsigned char* h_label = (unsigned char*)malloc(bytes_label);
  int* h_kept = (int*)malloc(bytes_kept);
  loadTensor("data/strength.bin", h_strength, bytes_strength);

  float *d_strength;
  unsigned char *d_label;
  int *d_kept;
  cudaMalloc(&d_strength, bytes_strength);
  cudaMalloc(&d_label, bytes_label);
  cudaMalloc(&d_kept, bytes_kept);
  cudaMemcpy(d_strength, h_strength, bytes_strength, cudaMemcpyHostToDevice);
  cudaMemset(d_kept, 0, HEIGHT * sizeof(int));

  dim3 block(16, 16);
  dim3 grid(div_up(WIDTH, 16), div_up(HEIGHT, 16));
  label_pixels<<<grid, block>>>(d_strength, d_label, d_kept);

  cudaMemcpy(h_label, d_label, bytes_label, cudaMemcpyDeviceToHost);
  cudaMemcpy(h_kept, d_kept, bytes_kept, cudaMemcpyDeviceToHost);
  if (cudaGetLastError() != cudaSuccess) {
    fprintf(stderr, "GPU error\n");
    return 1;
  }
  saveTensor("data/label.bin", h_label, bytes_label);
  saveTensor("data/kept.bin", h_kept, bytes_kept);

  cudaFree(d_strength);
  cudaFree(d_label);
  cudaFree(d_kept);
  free(h_strength);
  free(h_label);
  free(h_kept);
  return 0;
}
