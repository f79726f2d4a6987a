#include <cuda_runtime.h>
#include <cstdio>

constexpr int BATCH = 7;
constexpr int SIDE = 50;

__global__ void rotate(const float* images, const int* turns, float* rotated) {
  int c = blockIdx.x * blockDim.x + threadIdx.x;
  int r = blockIdx.y * blockDim.y + threadIdx.y;
  int b = blockIdx.z;
  if (r >= SIDE || c >= SIDE) return;
  int k = ((turns[b] % 4) + 4) % 4;
  int sr = r, sc = c;
  if (k == 1) { sr = c; sc = SIDE - 1 - r; }
  if (k == 2) { sr = SIDE - 1 - r; sc = SIDE - 1 - c; }
  if (k == 3) { sr = SIDE - 1 - c; sc = r; }
  rotated[(b * SIDE + r) * SIDE + c] = images[(b * SIDE + sr) * SIDE + sc];
}

int main() {
  const size_t num = (size_t)BATCH * SIDE * SIDE;
  float *images, *rotated;
  int *turns;
  cudaMallocManaged(&images, num * sizeof(float));
  cudaMallocManaged(&turns, BATCH * sizeof(int));
  cudaMallocManaged(&rotated, num * sizeof(float));

  FILE* file = fopen("data/images.bin", "rb");
  if (!file || fread(images, sizeof(float), num, file) != num) {
    puts("data/images.bin");
    return 1;
  }
  fclose(file);
  file = fopen("data/turns.bin", "rb");
  if (!file || fread(turns, sizeof(int), BATCH, file) != BATCH) {
    perror("data/turns.bin");
    return 1;
  }
  fclose(file);

  dim3 block(16, 16);
  dim3 grid((SIDE + 15) / 16, (SIDE + 15) / 16, BATCH);
  rotate<<<grid, block>>>(images, turns, rotated);
  if (cudaDeviceSynchronize() != cudaSuccess) {
    fprintf(stderr, "kernel failed\n");
    return 1;
  }

  file = fopen("data/rotated.bin", "wb");
  fwrite(rotated, sizeof(float), num, file);
  fclose(file);
  cudaFree(images);
  cudaFree(turns);
  cudaFree(rotated);
  return 0;
}
